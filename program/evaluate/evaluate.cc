#include "program/evaluate/evaluate.h"

#include <array>

#include "program/evaluate/lookup.h"
#include "program/evaluate/path_table.h"

namespace edge::program {
namespace {

const NameEntry* find_name(const SectionView& section, const NameTable& table, std::uint64_t hash,
                           std::string_view name) {
  const auto slots = section.array(table.slots);
  const auto entries = section.array(table.entries);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::uint32_t slot = slots[(hash + i) & (slots.size() - 1)];
    if (slot == kFreeSlot) break;
    if (!slot_may_match(slot, hash)) continue;
    const NameEntry& entry = entries[slot_entry(slot)];
    if (section.string(entry.name) == name) return &entry;
  }
  return nullptr;
}

/// Rule D2: the name itself, else the longest wildcard that covers it, else what is there for every name.
std::uint32_t most_specific(const SectionView& section, const NameTable& table, std::string_view name) {
  std::uint32_t best = table.fallback;
  std::uint64_t hash = kNameSeed;
  std::size_t end = name.size();
  for (std::uint32_t labels = 1; labels <= table.max_labels && !name.empty(); ++labels) {
    const std::size_t dot = end == 0 ? std::string_view::npos : name.rfind('.', end - 1);
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    hash = name_hash_step(hash, name.substr(begin, end - begin));
    const NameEntry* const entry = find_name(section, table, hash, name.substr(begin));
    if (begin == 0) return entry != nullptr && entry->exact != kNone ? entry->exact : best;
    if (entry != nullptr && entry->wildcard != kNone) best = entry->wildcard;
    end = dot;
  }
  return best;
}

/// Matches one request in one host section.
class HostWalk {
 public:
  HostWalk(const Section& host, const RequestView& request, const RegexMatcher& regex, Trace* trace)
      : host_(host), header_(host.view.header<HostHeader>()), request_(request), regex_(regex), trace_(trace) {}

  /// Exact path, then patterns of Gateway API and Ingress (decision 81), then as rule D1 has it the prefixes from the
  /// longest on, then the other patterns, then rules without a path.
  bool run(Evaluation& outcome) {
    const std::string_view path = request_.path;
    // `*`, of an OPTIONS request to the server as a whole, lies below no path.
    const bool found = path.starts_with('/') ? run_paths(path, outcome) : reach_early(outcome);
    return found || reach(Trace::PathClass::kRegex, {}, header_.regex, outcome) ||
           reach(Trace::PathClass::kAny, {}, header_.any_path, outcome);
  }

 private:
  struct Prefix {
    std::uint64_t hash;
    std::size_t size;
  };

  bool reach_early(Evaluation& outcome) {
    return reach(Trace::PathClass::kEarlyRegex, {}, header_.early_regex, outcome);
  }

  bool run_paths(std::string_view path, Evaluation& outcome) {
    std::array<Prefix, kMaxPathDepth> prefixes;
    std::size_t depth = 0;
    std::uint64_t hash = kPathSeed;
    for (std::size_t begin = 1; begin != 0;) {
      const std::size_t slash = path.find('/', begin);
      const std::size_t end = slash == std::string_view::npos ? path.size() : slash;
      hash = path_hash_step(hash, path.substr(begin, end - begin));
      if (depth < kMaxPathDepth) prefixes[depth++] = {hash, end};
      begin = slash == std::string_view::npos ? 0 : slash + 1;
    }

    const PathRecord* entry = find_path(host_.view, hash, path);
    if (entry != nullptr && reach(Trace::PathClass::kExact, path, entry->exact, outcome)) return true;
    if (reach_early(outcome)) return true;
    for (; depth > 0; --depth) {
      if ((header_.prefix_depths >> (depth - 1) & 1) == 0) continue;
      const Prefix& prefix = prefixes[depth - 1];
      entry = find_path(host_.view, prefix.hash, path.substr(0, prefix.size));
      if (entry != nullptr && reach(Trace::PathClass::kPrefix, path.substr(0, prefix.size), entry->prefix, outcome))
        return true;
    }
    return reach(Trace::PathClass::kPrefix, "/", header_.root_prefix, outcome);
  }

  bool reach(Trace::PathClass path_class, std::string_view path, Target32 target, Evaluation& outcome) {
    if (target == kNone) return false;
    if (trace_ != nullptr) trace_->path(path_class, path);
    if ((target & kActionBit) != 0) return win(kNone, kNone, target & ~kActionBit, outcome);

    const GroupRecord& group = host_.view.array(header_.groups)[target];
    const auto candidates = host_.view.array(header_.candidates).subspan(group.first, group.count);
    for (std::uint32_t i = 0; i < candidates.size(); ++i) {
      std::uint32_t failed = kNone;
      if (holds(host_.view, candidates[i].predicate, input(), &failed))
        return win(target, i, candidates[i].action, outcome);
      if (trace_ != nullptr) trace_->candidate(host_, group.first + i, candidates[i].action, failed);
    }
    return false;
  }

  bool win(std::uint32_t group, std::uint32_t candidate, std::uint32_t action, Evaluation& outcome) {
    outcome.host = &host_;
    outcome.action = action;
    outcome.group = group;
    outcome.candidate = candidate;
    if (trace_ != nullptr) {
      const std::uint32_t first = group == kNone ? kNone : host_.view.array(header_.groups)[group].first;
      trace_->candidate(host_, group == kNone ? kNone : first + candidate, action, kNone);
    }
    return true;
  }

  /// Filled when the first group is reached: most requests end on a path alone.
  const MatchInput& input() {
    if (!values_) values_.emplace(host_, request_, regex_);
    return values_->input();
  }

  const Section& host_;
  const HostHeader& header_;
  const RequestView& request_;
  const RegexMatcher& regex_;
  Trace* trace_;
  std::optional<SlotValues> values_;
};

}  // namespace

std::uint32_t listener_of(const ProgramView& program, std::uint32_t bind, std::string_view host) {
  const SectionView& section = program.listeners().view;
  return most_specific(section, section.array(section.header<ListenersHeader>().binds)[bind].listeners, host);
}

Evaluation evaluate(const ProgramView& program, std::uint32_t bind, const RequestView& request,
                    const RegexMatcher& regex, Trace* trace) {
  Evaluation outcome;
  const SectionView& section = program.listeners().view;
  const auto& header = section.header<ListenersHeader>();
  outcome.listener = listener_of(program, bind, request.host);
  if (outcome.listener == kNone) return outcome;
  if (trace != nullptr) trace->listener(outcome.listener);

  const ListenerRecord& listener = section.array(header.listeners)[outcome.listener];
  const auto hosts = section.array(listener.host_entries);
  for (std::uint32_t at = most_specific(section, listener.hosts, request.host); at != kNone; at = hosts[at].next) {
    const Section& host = *program.find(SectionKind::kHost, hosts[at].host_id);
    if (trace != nullptr) trace->host(host);
    if (HostWalk(host, request, regex, trace).run(outcome)) break;
  }
  return outcome;
}

Evaluation evaluate_host(const Section& host, const RequestView& request, const RegexMatcher& regex, Trace* trace) {
  Evaluation outcome;
  HostWalk(host, request, regex, trace).run(outcome);
  return outcome;
}

}  // namespace edge::program
