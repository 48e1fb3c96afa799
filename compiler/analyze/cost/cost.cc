#include "compiler/analyze/cost/cost.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "compiler/analyze/space/host_rules.h"
#include "compiler/expr/regex_facts.h"
#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;
using PathClass = program::Trace::PathClass;

/// Upper bound of the conditions that a predicate's evaluation tests; shared nodes count each time.
class ConditionCounts {
 public:
  explicit ConditionCounts(const program::SectionView& host) {
    // Operands come before the nodes that use them.
    const auto& header = host.header<program::HostHeader>();
    for (const program::NodeRecord& node : host.array(header.nodes)) {
      std::uint64_t count = 1;
      if (node.op == program::Op::kNot) count = counts_[node.a];
      if (node.op == program::Op::kAnd || node.op == program::Op::kOr) {
        count = 0;
        for (const std::uint32_t operand : host.array(header.operands).subspan(node.a, node.b))
          count += counts_[operand];
      }
      counts_.push_back(count);
    }
  }
  std::uint64_t of(std::uint32_t predicate) const { return predicate == kNone ? 0 : counts_[predicate]; }

 private:
  std::vector<std::uint64_t> counts_;
};

/// Computes the bounds of one host section.
class HostBound {
 public:
  explicit HostBound(const program::Section& section) : header_(section.view.header<program::HostHeader>()) {
    const ConditionCounts counts(section.view);
    Space space;
    for (const TableRule& rule : HostRules(space, section).rules()) {
      ++rules_;
      const std::uint64_t conditions = counts.of(rule.predicate);
      if (rule.path_class == PathClass::kExact) {
        exact_[rule.path] += conditions;
      } else if (rule.path_class == PathClass::kPrefix) {
        prefix_[rule.path] += conditions;
      } else {
        pathless_ += conditions;
      }
    }
  }

  std::size_t rules() const { return rules_; }
  std::size_t paths() const { return exact_.size() + prefix_.size(); }

  /// The path on which most conditions can be met, and how many.
  LookupBound largest(std::string& path) const {
    std::uint64_t most = at("/", 0);
    path = "/";
    const auto offer = [&](const std::string& candidate, std::uint64_t conditions) {
      if (conditions <= most) return;
      most = conditions;
      path = candidate;
    };
    for (const auto& [exact, conditions] : exact_) offer(exact, at(exact, conditions));
    for (const auto& [prefix, conditions] : prefix_) offer(prefix.empty() ? "/" : prefix, at(prefix, 0));
    LookupBound bound;
    bound.hosts = 1;
    bound.paths = paths() == 0 ? 0 : 1 + static_cast<std::uint32_t>(std::popcount(header_.prefix_depths));
    bound.conditions = most;
    bound.pattern_sets = header_.regex_sets.count;
    return bound;
  }

 private:
  std::uint64_t at(std::string_view path, std::uint64_t own) const {
    std::uint64_t sum = own + pathless_;
    for (std::size_t size = path == "/" ? 0 : path.size(); size != std::string_view::npos;) {
      if (const auto found = prefix_.find(path.substr(0, size)); found != prefix_.end()) sum += found->second;
      size = size == 0 ? std::string_view::npos : path.rfind('/', size - 1);
    }
    return sum;
  }

  const program::HostHeader& header_;
  std::map<std::string, std::uint64_t, std::less<>> exact_;
  std::map<std::string, std::uint64_t, std::less<>> prefix_;
  std::uint64_t pathless_ = 0;
  std::size_t rules_ = 0;
};

std::string subject_text(const program::SectionView& host, std::uint32_t slot) {
  if (slot == program::kSlotPath) return "path";
  if (slot < program::kFirstHostSlot) return "method";
  const auto& record = host.array(host.header<program::HostHeader>().slots)[slot - program::kFirstHostSlot];
  const bool header = record.kind == program::SlotKind::kHeader;
  return (header ? "header:" : "query:") + std::string(host.string(record.name));
}

class CostReader {
 public:
  explicit CostReader(const program::ProgramView& program) : program_(program) {}

  Cost run() {
    out_.program_bytes = program_.bytes().size();
    for (const program::Section& section : program_.sections()) count_bytes(section);
    const program::SectionView& view = program_.listeners().view;
    for (const auto& listener : view.array(view.header<program::ListenersHeader>().listeners)) add_listener(listener);
    const auto weight = [](const HostCost& host) {
      return std::tuple(host.bound.conditions, host.bound.pattern_sets, host.bound.paths, host.table_bytes);
    };
    std::ranges::stable_sort(out_.hosts, [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
    std::ranges::stable_sort(out_.regexes, [](const auto& a, const auto& b) { return a.positions > b.positions; });
    return std::move(out_);
  }

 private:
  void count_bytes(const program::Section& section) {
    const std::uint64_t size = section.view.bytes().size();
    if (section.kind == program::SectionKind::kNative) {
      out_.native_bytes += size;
    } else if (section.kind == program::SectionKind::kRegex) {
      out_.regex_bytes += size;
    } else {
      out_.table_bytes += size;
    }
    if (section.kind != program::SectionKind::kHost) return;
    ++hosts_of_shard_[section.view.header<program::HostHeader>().native_shard];
  }

  void add_listener(const program::ListenerRecord& listener) {
    const program::SectionView& view = program_.listeners().view;
    const auto entries = view.array(listener.host_entries);
    // Less specific hosts come later, and their bounds are part of those before them.
    std::vector<LookupBound> bounds(entries.size());
    for (std::size_t i = entries.size(); i-- > 0;) {
      const program::Section* const section = program_.find(program::SectionKind::kHost, entries[i].host_id);
      if (section == nullptr) continue;
      HostCost host = host_of(*section);
      host.listener = view.string(listener.name);
      if (entries[i].next != kNone) host.bound += bounds[entries[i].next];
      bounds[i] = host.bound;
      out_.hosts.push_back(std::move(host));
    }
  }

  HostCost host_of(const program::Section& section) {
    const program::SectionView& view = section.view;
    const auto& header = view.header<program::HostHeader>();
    HostCost host;
    host.pattern = view.string(header.pattern);
    if (host.pattern.empty()) host.pattern = "*";
    host.table_bytes = view.bytes().size();
    host.patterns = header.regexes.count;
    if (header.native_shard != kNone) {
      const program::Section* const native = program_.find(program::SectionKind::kNative, header.native_shard);
      host.native_hosts = hosts_of_shard_[header.native_shard];
      if (native != nullptr) host.native_bytes = native->view.bytes().size() / host.native_hosts;
    }
    add_regexes(view, host);
    const HostBound bound(section);
    host.rules = bound.rules();
    host.paths = bound.paths();
    host.bound = bound.largest(host.longest_path);
    return host;
  }

  void add_regexes(const program::SectionView& view, HostCost& host) {
    const auto& header = view.header<program::HostHeader>();
    const auto regexes = view.array(header.regexes);
    for (const program::RegexSetRecord& set : view.array(header.regex_sets)) {
      const program::Section* const section = program_.find(program::SectionKind::kRegex, set.section_id);
      const std::uint64_t bytes = section == nullptr ? 0 : section->view.bytes().size();
      host.regex_bytes += bytes;
      for (const program::RegexRecord& record : regexes.subspan(set.first, set.count)) {
        RegexCost regex;
        regex.pattern = view.string(record.pattern);
        regex.host = host.pattern;
        regex.subject = subject_text(view, record.slot);
        if (const auto parsed = expr::parse_regex(regex.pattern); parsed.regex) {
          regex.positions = expr::positions(parsed.regex->root);
        }
        regex.database_bytes = bytes;
        regex.database_patterns = set.count;
        out_.regexes.push_back(std::move(regex));
      }
    }
  }

  const program::ProgramView& program_;
  std::unordered_map<std::uint32_t, std::size_t> hosts_of_shard_;
  Cost out_;
};

}  // namespace

Cost cost_of(const program::ProgramView& program) { return CostReader(program).run(); }

}  // namespace edge::compiler::analyze
