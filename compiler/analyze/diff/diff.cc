#include "compiler/analyze/diff/diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "compiler/analyze/diff/diff_rules.h"
#include "compiler/analyze/diff/settings.h"
#include "compiler/analyze/explain/explain_words.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/analyze/space/host_classes.h"
#include "compiler/expr/regex_matcher.h"
#include "program/dump/dump.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;
using PathClass = program::Trace::PathClass;
using Chain = std::vector<const program::Section*>;

/// Hosts that only fall through to what changed and are looked at one by one; of the others a sample request is tried.
constexpr std::size_t kMaxFallThrough = 500;

std::string place_text(const TableRule& rule) {
  switch (rule.path_class) {
    case PathClass::kExact:
      return "exact " + rule.path;
    case PathClass::kPrefix:
      return "prefix " + (rule.path.empty() ? "/" : rule.path);
    case PathClass::kEarlyRegex:
    case PathClass::kRegex:
    case PathClass::kAny:
      break;
  }
  return "";
}

std::string rule_text(const ChainRule& rule) {
  std::string text = place_text(rule.rule);
  if (rule.rule.predicate == kNone) return text.empty() ? "any path" : text;
  return text + (text.empty() ? "" : " AND ") + program::predicate_text(rule.host->view, rule.rule.predicate);
}

std::string pattern_text(const HostPattern& pattern) { return pattern.any() ? "*" : pattern.text(); }

}  // namespace

struct ProgramDiff::State {
  State(const program::ProgramView& first, const program::ProgramView& second, DiffOptions how)
      : programs{&first, &second},
        treatments{Treatments(first), Treatments(second)},
        options(how),
        regex(expr::regex_matcher()) {
    find_moved_backends();
  }

  const program::ProgramView* programs[2];
  Treatments treatments[2];
  DiffOptions options;
  program::RegexMatcher regex;
  std::set<std::uint64_t> moved_backends;  ///< that only one of the programs has
  std::map<std::pair<Chain, Chain>, RulesDifferences> kept;
  std::map<std::string, std::size_t> numbers;  ///< of `out`'s classes, by key
  Diff out;

  // ---- Hosts --------------------------------------------------------------------------------------------------------

  void find_moved_backends() {
    std::set<std::uint64_t> ids[2];
    for (const std::size_t side : {0, 1}) {
      const program::SectionView& view = programs[side]->backends().view;
      for (const auto& backend : view.array(view.header<program::BackendsHeader>().backends)) {
        ids[side].insert(backend.id);
      }
    }
    std::ranges::set_symmetric_difference(ids[0], ids[1], std::inserter(moved_backends, moved_backends.end()));
  }

  /// Same bytes, and every backend named there is on both sides or on none.
  bool same(const program::Section& before, const program::Section& after) const {
    if (before.hash != after.hash) return false;
    if (moved_backends.empty()) return true;
    const auto refs = before.view.array(before.view.header<program::HostHeader>().backend_refs);
    return std::ranges::none_of(refs, [this](const auto& ref) { return moved_backends.contains(ref.backend_id()); });
  }

  const RulesDifferences& rules_of(const Chain& before, const Chain& after) {
    auto [found, fresh] = kept.try_emplace({before, after});
    if (!fresh) return found->second;
    const RuleChain first{treatments[0], before};
    const RuleChain second{treatments[1], after};
    found->second = diff_rules(first, second, regex, options.by_name);
    return found->second;
  }

  void run_bind(std::uint32_t before, std::uint32_t after, std::uint16_t port) {
    const std::uint32_t binds[2] = {before, after};
    const HostClasses first(*programs[0], before);
    const HostClasses second(*programs[1], after);
    std::vector<HostPattern> patterns;
    std::ranges::set_union(first.patterns(), second.patterns(), std::back_inserter(patterns),
                           HostPattern::more_specific);
    PatternMap classes;
    for (std::uint32_t i = 0; i < patterns.size(); ++i) classes.add(patterns[i].text(), i);
    std::size_t fell_through = 0;
    std::size_t sampled = 0;
    for (std::uint32_t i = 0; i < patterns.size(); ++i) {
      const auto name = name_of_class(patterns[i], i, classes);
      if (!name) continue;
      Chain chain[2] = {first.chain(*name).hosts, second.chain(*name).hosts};
      const std::size_t common = common_length(chain[0], chain[1]);
      if (common == chain[0].size() && common == chain[1].size()) continue;
      Witness base;
      base.host = *name;
      base.port = port;
      bool whole = common == 0;
      if (!whole) {
        // What the host has of its own is as it was; what changed is further on.
        const Chain tails[2] = {{chain[0].begin() + static_cast<std::ptrdiff_t>(common), chain[0].end()},
                                {chain[1].begin() + static_cast<std::ptrdiff_t>(common), chain[1].end()}};
        const RulesDifferences& tail = rules_of(tails[0], tails[1]);
        if (tail.none()) continue;
        whole = fell_through++ < kMaxFallThrough;
        if (!whole) {
          ++sampled;
          for (const RulesDifference& each : tail.found) add_found(each, base, patterns[i], binds, /*certain=*/false);
        }
      }
      if (!whole) continue;
      const RulesDifferences& found = rules_of(chain[0], chain[1]);
      for (const RulesDifference& each : found.found) add_found(each, base, patterns[i], binds, /*certain=*/true);
      for (const std::string& question : found.undecided) {
        out.undecided.push_back("host " + pattern_text(patterns[i]) + ", " + question);
      }
    }
    if (sampled > 0) {
      out.undecided.push_back(std::to_string(sampled) +
                              " more hosts fall through to what changed; only one request was tried on each");
    }
  }

  std::size_t common_length(const Chain& before, const Chain& after) const {
    std::size_t common = 0;
    while (common < before.size() && common < after.size() && same(*before[common], *after[common])) ++common;
    return common;
  }

  // ---- Classes ------------------------------------------------------------------------------------------------------

  /// Nothing is told that the interpreter does not confirm on both programs as they are.
  void add_found(const RulesDifference& found, const Witness& base, const HostPattern& pattern,
                 const std::uint32_t (&binds)[2], bool certain) {
    Witness request = found.request;
    request.host = base.host;
    request.port = base.port;
    auto changed = compare(request, binds);
    if (!changed) {
      if (certain)
        out.undecided.push_back("host " + pattern_text(pattern) + ": not confirmed: " + witness_text(request));
      return;
    }
    changed->hosts = {pattern_text(pattern)};
    const auto [known, fresh] = numbers.try_emplace(class_key(*changed), out.classes.size());
    if (fresh) {
      out.classes.push_back(std::move(*changed));
      return;
    }
    // Hosts come one after the other.
    std::vector<std::string>& hosts = out.classes[known->second].hosts;
    if (hosts.back() != changed->hosts.front()) hosts.push_back(std::move(changed->hosts.front()));
  }

  /// Which rule takes a request on one side, and what it does.
  struct Taken {
    const program::Section* host = nullptr;
    std::string rule = {};
    std::string treatment = kNoRoute;
    std::vector<std::string> parts = {kNoRoute};
  };

  Taken take(std::size_t side, std::uint32_t bind, const program::RequestView& request) {
    const program::Evaluation outcome = program::evaluate(*programs[side], bind, request, regex);
    if (outcome.host == nullptr) return {};
    const program::SectionView& host = outcome.host->view;
    return {outcome.host, rule_name(host, outcome.action), treatments[side].text(*outcome.host, outcome.action),
            treatments[side].parts(host, outcome.action)};
  }

  std::optional<DiffClass> compare(const Witness& request, const std::uint32_t (&binds)[2]) {
    const WitnessView view(request);
    Taken before = take(0, binds[0], view.view());
    Taken after = take(1, binds[1], view.view());
    const bool renamed = options.by_name && before.rule != after.rule;
    if (before.treatment == after.treatment && !renamed) return std::nullopt;
    const program::Section* const host = before.host != nullptr ? before.host : after.host;
    DiffClass changed;
    changed.hosts = {request.host};
    if (host != nullptr) {
      Space space;
      if (const auto rule = HostRules(space, *host).taker(view.view(), regex)) changed.where = rule_text({host, *rule});
    }
    changed.rule_before = std::move(before.rule);
    changed.rule_after = std::move(after.rule);
    changed.before = std::move(before.parts);
    changed.after = std::move(after.parts);
    changed.request = request;
    return changed;
  }

  // ---- Listeners and settings ---------------------------------------------------------------------------------------

  void run() {
    const program::SectionView& first = programs[0]->listeners().view;
    const program::SectionView& second = programs[1]->listeners().view;
    const auto before = first.array(first.header<program::ListenersHeader>().binds);
    const auto after = second.array(second.header<program::ListenersHeader>().binds);
    for (std::uint32_t i = 0; i < before.size(); ++i) {
      const std::string name = bind_text(*programs[0], i);
      for (std::uint32_t j = 0; j < after.size(); ++j) {
        if (name == bind_text(*programs[1], j)) run_bind(i, j, before[i].port);
      }
    }
    diff_settings(settings_of(*programs[0]), settings_of(*programs[1]));
  }

  void diff_settings(const Settings& before, const Settings& after) {
    Settings all = before;
    all.insert(after.begin(), after.end());
    const auto value = [](const Settings& settings, const std::string& name) {
      const auto found = settings.find(name);
      return found == settings.end() ? std::string() : found->second;
    };
    for (const auto& [name, ignored] : all) {
      const std::string old_value = value(before, name);
      const std::string new_value = value(after, name);
      // What belongs to a thing that came or went is not told one by one.
      const std::string thing = name.substr(0, name.find(','));
      if (old_value == new_value || (thing != name && before.contains(thing) != after.contains(thing))) continue;
      out.settings.push_back({name, old_value, new_value});
    }
  }
};

ProgramDiff::ProgramDiff(const program::ProgramView& before, const program::ProgramView& after, DiffOptions options)
    : state_(std::make_unique<State>(before, after, options)) {}
ProgramDiff::~ProgramDiff() = default;

Diff ProgramDiff::run() {
  state_->run();
  return std::move(state_->out);
}

std::optional<DiffClass> ProgramDiff::of_request(const Witness& request) {
  const auto before = bind_of_port(*state_->programs[0], request.port, true);
  const auto after = bind_of_port(*state_->programs[1], request.port, true);
  if (!before || !after) return std::nullopt;
  return state_->compare(request, {*before, *after});
}

std::string class_key(const DiffClass& changed) {
  std::string key = changed.rule_before + "\n" + changed.rule_after;
  for (const auto* parts : {&changed.before, &changed.after}) {
    key += "\n";
    for (const std::string& part : *parts) key += "\n" + part;
  }
  return key;
}

std::vector<SettingChange> diff_endpoints(const program::EndpointSet& before, const program::EndpointSet& after) {
  using Texts = std::map<std::string, std::string>;
  const auto more = [](std::uint16_t weight, const program::EndpointZones& zones) {
    return (weight == 1 ? std::string() : " (weight " + std::to_string(weight) + ")") +
           (zones.empty() ? std::string() : " (for zone " + program::zones_text(zones) + ")");
  };
  const auto texts = [&](const program::EndpointSet& set) {
    Texts out;
    for (const program::BackendEndpoints& backend : set.backends) {
      std::string text;
      for (const program::Endpoint& endpoint : backend.endpoints) {
        const std::string address = to_string(endpoint.address);
        text += (text.empty() ? "" : ", ") + (endpoint.address.is_v4() ? address : "[" + address + "]") + ":" +
                std::to_string(endpoint.port) + (endpoint.ready ? "" : " (not ready)") +
                more(endpoint.weight, endpoint.zones);
      }
      for (const program::EndpointName& name : backend.names) {
        text += (text.empty() ? "" : ", ") + name.host + (name.port == 0 ? "" : ":" + std::to_string(name.port)) +
                more(name.weight, name.zones);
      }
      out.emplace("backend " + backend.name_space + "/" + backend.name + ", endpoints", std::move(text));
    }
    return out;
  };
  const Texts first = texts(before);
  const Texts second = texts(after);
  Texts all = first;
  all.insert(second.begin(), second.end());
  std::vector<SettingChange> changes;
  for (const auto& [name, ignored] : all) {
    const auto old_text = first.find(name);
    const auto new_text = second.find(name);
    SettingChange change{name, old_text == first.end() ? "" : old_text->second,
                         new_text == second.end() ? "" : new_text->second};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace edge::compiler::analyze
