#include "compiler/emit/regex.h"

#include <climits>
#include <map>
#include <utility>

#include <unistd.h>

#include "compiler/emit/regex_protocol.h"
#include "compiler/emit/regex_worker.h"

namespace edge::compiler::emit {
namespace {

/// `edge-regexc` beside the running executable.
std::string default_worker() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) return "edge-regexc";
  const std::string_view self(path, static_cast<std::size_t>(size));
  return std::string(self.substr(0, self.rfind('/') + 1)) + "edge-regexc";
}

RegexOutcome refused(std::uint32_t pattern, std::string message) { return {nullptr, pattern, std::move(message)}; }

}  // namespace

struct RegexCompiler::Impl {
  Impl(std::string path, RegexLimits limits) : worker(std::move(path), limits) {}

  /// One set, or the Error that there is no worker.
  Result<RegexOutcome> compile(const std::vector<std::string>& patterns) {
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
      if (const auto known = over_limit.find(patterns[i]); known != over_limit.end()) return refused(i, known->second);
    }
    Result<RegexWorker::Reply> reply = worker.ask(encode_patterns(patterns));
    if (!reply.ok()) return reply.error();
    if (RegexOutcome outcome; decided(*reply, outcome)) return outcome;
    return blame(patterns, reply->fault);
  }

  /// \returns false when the answer does not tell which pattern is at fault.
  static bool decided(const RegexWorker::Reply& reply, RegexOutcome& outcome) {
    const auto answer = reply.fault.empty() ? decode_answer(reply.frame) : std::nullopt;
    if (!answer || answer->kind == RegexReply::kSetFault) return false;
    if (answer->kind == RegexReply::kDatabase) {
      const auto bytes = std::as_bytes(std::span(answer->bytes));
      outcome.database = program::make_blob({bytes.begin(), bytes.end()});
    } else {
      outcome = refused(answer->pattern, std::string(answer->bytes));
    }
    return true;
  }

  /// Why a set failed, in the words of its reply.
  static std::string reason(const RegexWorker::Reply& reply) {
    if (!reply.fault.empty()) return reply.fault;
    const auto answer = decode_answer(reply.frame);
    return answer ? std::string(answer->bytes) : "The answer makes no sense.";
  }

  /// Compiles the patterns of a set that failed one by one: the first that fails alone is at fault. Those that hit a
  /// limit are remembered, so that each costs its time once.
  Result<RegexOutcome> blame(const std::vector<std::string>& patterns, const std::string& set_fault) {
    std::uint32_t longest = 0;
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i].size() > patterns[longest].size()) longest = i;
      Result<RegexWorker::Reply> reply = worker.ask(encode_patterns({patterns[i]}));
      if (!reply.ok()) return reply.error();
      RegexOutcome outcome;
      if (decided(*reply, outcome)) {
        if (outcome.database == nullptr) return refused(i, std::move(outcome.message));
        continue;
      }
      std::string message = reason(*reply);
      over_limit.emplace(patterns[i], message);
      return refused(i, std::move(message));
    }
    return refused(longest, "Together with the host's other patterns: " +
                                (set_fault.empty() ? std::string("too large.") : set_fault));
  }

  RegexWorker worker;
  std::map<std::string, std::string> over_limit;
};

RegexCompiler::RegexCompiler(std::string worker, RegexLimits limits)
    : impl_(std::make_unique<Impl>(worker.empty() ? default_worker() : std::move(worker), limits)) {}
RegexCompiler::~RegexCompiler() = default;

Result<std::vector<RegexOutcome>> RegexCompiler::compile(const std::vector<std::vector<std::string>>& sets) {
  std::vector<RegexOutcome> outcomes;
  outcomes.reserve(sets.size());
  for (const std::vector<std::string>& set : sets) {
    Result<RegexOutcome> outcome = impl_->compile(set);
    if (!outcome.ok()) return outcome.error();
    outcomes.push_back(std::move(outcome).value());
  }
  return outcomes;
}

Result<std::vector<bool>> RegexCompiler::scan(std::span<const std::byte> database, std::size_t patterns,
                                              std::string_view subject) {
  Result<RegexScanner> scanner = RegexScanner::open(database);
  if (!scanner.ok()) return scanner.error();
  return scanner->scan(patterns, subject);
}

}  // namespace edge::compiler::emit
