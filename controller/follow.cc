#include "controller/follow.h"

#include <filesystem>
#include <set>

#include "compiler/read_config.h"

namespace edge::controller {
namespace {

/// Long enough for an editor to finish its rename, short enough not to be waited for.
constexpr auto kQuiet = std::chrono::milliseconds(50);
constexpr std::size_t kMaxReported = 100;
/// Codes of references (diagnostic_codes.def).
constexpr int kFirstReference = 200;
constexpr int kLastReference = 299;

/// Errors first: they are what a user has to act on.
std::string diagnostics_report(const Diagnostics& diagnostics, const SourceMap& sources, Colour colour) {
  std::string text;
  std::size_t told = 0;
  for (const Severity severity : {Severity::kError, Severity::kWarning}) {
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      if (diagnostic.severity != severity) continue;
      if (++told > kMaxReported) return text + "(more is told by edgectl validate)\n";
      text += render(diagnostic, sources, colour) + "\n";
    }
  }
  return text;
}

}  // namespace

struct Follower::Attempt {
  SourceMap sources;
  Diagnostics diagnostics;
  program::EndpointSet endpoints;
  program::SecretSet secrets;
  std::optional<compiler::Artifact> artifact;
};

Follower::Follower(std::vector<std::string> paths, compiler::CompileOptions options, Colour colour, FollowScope scope)
    : paths_(std::move(paths)), colour_(colour), scope_(scope), workspace_(std::move(options)) {}

Result<std::unique_ptr<Follower>> Follower::create(std::vector<std::string> paths, compiler::CompileOptions options,
                                                   Colour colour, FollowScope scope) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return Error{ErrorCode::kNotFound, path + ": no such file or directory"};
  }
  std::unique_ptr<Follower> follower(new Follower(std::move(paths), std::move(options), colour, scope));
  auto watch = FileWatch::create();
  if (!watch) return watch.error();
  follower->watch_ = std::move(*watch);
  if (Status status = follower->watch_->watch(follower->paths_); !status) return status.error();
  return follower;
}

std::optional<Texts> Follower::read(std::string& fault) {
  // Watched first: a change while we read is then told by the next wait.
  Status status = watch_->watch(paths_);
  SourceMap sources;
  if (status) status = compiler::read_sources(paths_, sources);
  if (!status) {
    fault = status.error().text;
    return std::nullopt;
  }
  Texts texts;
  for (std::uint32_t id = 0; id < sources.size(); ++id) texts[sources[id].name()] = sources[id].text();
  return texts;
}

std::optional<Update> Follower::next() {
  for (;;) {
    if (started_ && watch_->wait(kQuiet) == FileWatch::Event::kStopped) return std::nullopt;
    const bool first = !started_;
    started_ = true;
    std::string fault;
    auto texts = read(fault);
    if (!texts) {
      Update update;
      update.report = told_once("the configuration cannot be read: " + fault + "\n");
      seen_.reset();
      if (first || !update.report.empty()) return update;
      continue;
    }
    if (texts == seen_) continue;
    Update update = build(*texts);
    seen_ = std::move(texts);
    return update;
  }
}

Follower::Attempt Follower::compile(const Texts& texts) {
  Attempt attempt;
  for (const auto& [name, text] : texts) attempt.sources.add(name, text);
  attempt.artifact = workspace_.apply(documents_.become(texts));
  attempt.diagnostics = workspace_.diagnostics();
  attempt.diagnostics.relocate(
      [this](Span span) { return span.somewhere() ? documents_.place(workspace_.document(span.source), span) : span; });
  attempt.diagnostics.finish(attempt.sources);
  attempt.endpoints = workspace_.endpoints();
  attempt.secrets = workspace_.secrets();
  return attempt;
}

bool Follower::is_fault(const Diagnostic& diagnostic) const {
  if (diagnostic.severity != Severity::kError) return false;
  const auto code = static_cast<int>(diagnostic.code);
  return scope_ == FollowScope::kWhole || code < kFirstReference || code > kLastReference;
}

/// The files that faults point into, and where.
void Follower::find_faults(const Attempt& attempt, Update& update) const {
  for (const Diagnostic& diagnostic : attempt.diagnostics.all()) {
    if (!is_fault(diagnostic)) continue;
    update.clean = false;
    if (!diagnostic.span.somewhere()) continue;
    const std::string& file = attempt.sources[diagnostic.span.source].name();
    update.at_fault.insert(file);
    update.errors[file].push_back(diagnostic.span.begin);
  }
}

Update Follower::build(const Texts& texts) {
  Attempt attempt = compile(texts);
  Update update;
  std::string report = texts.empty() ? "there is no *.yaml, *.yml or *.json in the configuration\n" : "";
  report += diagnostics_report(attempt.diagnostics, attempt.sources, colour_);
  update.clean = attempt.artifact.has_value() && (scope_ == FollowScope::kPart || attempt.diagnostics.ok());
  find_faults(attempt, update);
  Texts held = texts;
  if (!update.clean) {
    Texts sound;
    for (const auto& [name, text] : texts) {
      const auto last = sound_.find(name);
      if (!update.at_fault.contains(name)) {
        sound.emplace(name, text);
      } else if (last != sound_.end()) {
        sound.emplace(*last);
        if (last->second != text) report += "the last version of " + name + " without errors stays in force\n";
        held[name] = last->second;
        update.errors.erase(name);
      } else {
        report += "what is at fault in " + name + " is left out\n";
      }
    }
    if (held != texts) attempt = compile(held);
    sound_ = std::move(sound);
  } else {
    sound_ = texts;
  }
  if (attempt.artifact) {
    update.program = attempt.artifact->bytes;
    update.endpoints = std::move(attempt.endpoints);
    update.secrets = std::move(attempt.secrets);
  } else {
    report += "no program could be compiled\n";
  }
  update.texts = std::move(held);
  update.report = told_once(std::move(report));
  return update;
}

std::string Follower::told_once(std::string report) {
  if (report == told_) return {};
  told_ = report;
  return report;
}

}  // namespace edge::controller
