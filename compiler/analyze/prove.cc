#include "compiler/analyze/prove.h"

#include <algorithm>
#include <string_view>

#include "compiler/analyze/compare_engines.h"
#include "compiler/analyze/prove_report.h"
#include "compiler/analyze/solve.h"
#include "compiler/analyze/witness_maker.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/expr/regex_syntax.h"
#include "program/evaluate.h"
#include "program/records.h"

namespace edge::compiler::analyze {
namespace {

/// Bounds of the search for one candidate. What is not found within them is counted as undecided.
constexpr std::size_t kMaxRounds = 8;
constexpr std::size_t kMaxWays = 32;
constexpr std::size_t kMaxPaths = 24;
/// Work on near misses for one host, in conditions looked at; a host with thousands of patterns stays bounded.
constexpr std::size_t kNearMissBudget = 400'000;
/// program::NodeRecord::slot is 16 bits wide.
constexpr std::size_t kMaxSlots = 60'000;

class HostProof {
 public:
  HostProof(const LinkedConfig& config, const ir::Host& host, const program::SectionView& section,
            const Engines& engines, Diagnostics& diagnostics)
      : config_(config),
        host_(host),
        section_{program::SectionKind::kHost, host.id, {}, section},
        matcher_(expr::regex_matcher()),
        maker_(config, host, matcher_),
        plain_(maker_.plain("/")),
        comparison_(section_, engines, matcher_),
        report_(config, host, diagnostics) {}

  ProofStats run() {
    if (host_.slots.size() > kMaxSlots) {
      report_.too_large("it tests " + std::to_string(host_.slots.size()) + " different headers and query keys");
      return stats_;
    }
    for (const auto& [path, group] : host_.exact) prove_group(group, {PathClass::kExact, path});
    for (const auto& [path, group] : host_.prefix) prove_group(group, {PathClass::kPrefix, path});
    prove_group(host_.regex, {PathClass::kRegex, {}});
    prove_group(host_.any, {PathClass::kAny, {}});
    report_dropped();
    if (comparison_.fault() && !first_candidate_) return stats_;
    if (comparison_.fault()) report_.disagreement(*first_candidate_, *comparison_.fault(), std::nullopt);
    return stats_;
  }

 private:
  void prove_group(const ir::Group& group, const Place& place) {
    group_ = &group;
    for (const ir::Candidate& candidate : group) {
      if (!first_candidate_) first_candidate_ = candidate;
      ++stats_.rules;
      if (candidate.predicate != ir::kAlways || !reach_plainly(candidate, place)) search(candidate, place);
    }
  }

  /// The usual case, without any allocation: no condition but the path, and no other rule in the way.
  bool reach_plainly(const ir::Candidate& candidate, const Place& place) {
    for (const std::string_view suffix : {"", "/~w"}) {
      plain_.path.assign(place.path).append(suffix);
      if (plain_.path.empty()) plain_.path = "/";
      if (!is(candidate, evaluate(plain_))) {
        if (place.path_class == PathClass::kExact || place.path_class == PathClass::kRegex) return false;
        continue;
      }
      ++stats_.reached;
      return true;
    }
    return false;
  }

  program::Outcome evaluate(const Witness& witness) {
    ++stats_.requests;
    const WitnessView view(witness);
    return program::evaluate_host(section_, view.view(), matcher_);
  }

  bool is(const ir::Candidate& candidate, const program::Outcome& outcome) const {
    if (outcome.host == nullptr) return false;
    const auto& header = section_.view.header<program::HostHeader>();
    const program::ActionRecord& action = section_.view.array(header.actions)[outcome.action];
    if (action.rule != candidate.rule || action.match != candidate.match) return false;
    const program::RouteRecord& route = section_.view.array(header.routes)[action.route];
    const Identity& identity = config_.routes[candidate.route].identity;
    return section_.view.string(route.name) == identity.name &&
           program::name_space_of(section_.view, route) == identity.name_space;
  }

  // ---- The search -------------------------------------------------------------------------------------------------

  /// Looks for a request that reaches `candidate`. A rule that takes what was made up becomes a goal: not that rule.
  void search(const ir::Candidate& candidate, const Place& place) {
    std::vector<Goal> goals;
    if (candidate.predicate != ir::kAlways) goals.push_back({candidate.predicate, true});
    std::optional<ir::Candidate> hider;
    for (std::size_t round = 0; round < kMaxRounds; ++round) {
      rivals_.clear();
      const Search result = solve(host_, goals, kMaxWays,
                                  [&](const Literals& literals) { return try_literals(candidate, place, literals); });
      if (result == Search::kFound) return;
      if (result == Search::kImpossible) return unreachable(candidate, hider);
      const std::size_t before = goals.size();
      for (const ir::Candidate& earlier : *group_) {
        if (&earlier == &candidate) break;
        if (!contains(rivals_, earlier)) continue;
        if (!hider) hider = earlier;
        goals.push_back({earlier.predicate, false});
      }
      if (goals.size() == before) break;
    }
    if (const auto certain = covering_rule(candidate, place)) {
      ++stats_.unreachable;
      return report_.unreachable(candidate, *certain, "takes every path that could lead to it (rule D1)", taken_);
    }
    ++stats_.undecided;
  }

  bool try_literals(const ir::Candidate& candidate, const Place& place, const Literals& literals) {
    const std::optional<Witness> filled = maker_.fill(literals);
    if (!filled) return false;
    std::size_t tried = 0;
    for (const std::string& path : maker_.paths(place, literals)) {
      if (tried == kMaxPaths) break;
      if (!maker_.path_fits(path, literals)) continue;
      ++tried;
      Witness witness = *filled;
      witness.path = path;
      const program::Outcome outcome = evaluate(witness);
      if (is(candidate, outcome)) {
        ++stats_.reached;
        compare(candidate, place, witness, outcome.group, literals);
        return true;
      }
      if (outcome.host == nullptr) {
        // Its conditions hold and nothing came first, and yet the tables lead nowhere.
        report_.disagreement(candidate, "the tables do not lead to this rule", witness);
        return true;
      }
      for (const ir::Candidate& other : *group_) {
        if (is(other, outcome)) rivals_.push_back(other);
      }
      taken_ = std::move(witness);
    }
    return false;
  }

  static bool contains(const std::vector<ir::Candidate>& list, const ir::Candidate& candidate) {
    return std::any_of(list.begin(), list.end(), [&candidate](const ir::Candidate& other) {
      return other.route == candidate.route && other.rule == candidate.rule && other.match == candidate.match;
    });
  }

  void unreachable(const ir::Candidate& candidate, const std::optional<ir::Candidate>& hider) {
    ++stats_.unreachable;
    if (!hider) return report_.contradiction(candidate);
    report_.unreachable(candidate, *hider, "and others before it take its requests", taken_);
  }

  // ---- What a prefix hides (D1: any prefix beats any pattern, and rules without a path)
  // ------------------------------

  /// The rule of a prefix that takes every path of `place`, when that is certain.
  std::optional<ir::Candidate> covering_rule(const ir::Candidate& candidate, const Place& place) const {
    if (place.path_class != PathClass::kRegex && place.path_class != PathClass::kAny) return std::nullopt;
    const std::optional<expr::Regex> regex =
        place.path_class == PathClass::kRegex ? path_pattern(candidate) : std::nullopt;
    const std::string certain = regex ? expr::literal_prefix(regex->root) : std::string();
    const std::optional<std::string> only = regex ? expr::only_match(regex->root) : std::nullopt;
    if (const auto exact = only ? host_.exact.find(*only) : host_.exact.end(); exact != host_.exact.end()) {
      if (exact->second.back().predicate == ir::kAlways) return exact->second.back();
    }
    for (const auto& [prefix, group] : host_.prefix) {
      if (group.back().predicate != ir::kAlways) continue;
      const bool rest_follows = certain.size() > prefix.size() && certain[prefix.size()] == '/';
      if (prefix.empty() || (certain.starts_with(prefix) && (rest_follows || only == prefix))) return group.back();
    }
    return std::nullopt;
  }

  std::optional<expr::Regex> path_pattern(const ir::Candidate& candidate) const {
    const auto& match = config_.routes[candidate.route].rules[candidate.rule].matches[candidate.match];
    return expr::parse_regex(match.path.value.value).regex;
  }

  /// What the lowering found to be hidden or contradictory already.
  void report_dropped() {
    for (const ir::Shadowed& shadowed : host_.shadowed) {
      ++stats_.rules;
      ++stats_.unreachable;
      std::optional<Witness> example = example_of(shadowed.loser);
      if (example && !is(shadowed.winner, evaluate(*example))) example.reset();
      report_.unreachable(shadowed.loser, shadowed.winner, "comes first and takes all its requests", example);
    }
    for (const ir::Candidate& candidate : host_.impossible) {
      ++stats_.rules;
      ++stats_.unreachable;
      report_.contradiction(candidate);
    }
  }

  /// A request for a match by its own fields; conditions of an expression are left to chance.
  std::optional<Witness> example_of(const ir::Candidate& candidate) const {
    const RuleMatch& match = config_.routes[candidate.route].rules[candidate.rule].matches[candidate.match];
    if (match.path.type == PathMatch::Type::kRegex) return std::nullopt;
    Witness witness = maker_.plain(match.path.type == PathMatch::Type::kNone ? "/" : match.path.value.value);
    if (match.method) witness.method = match.method->value;
    for (const FieldMatch& header : match.headers) {
      if (header.type == MatchType::kRegex) return std::nullopt;
      witness.headers.emplace_back(header.name.value, header.type == MatchType::kPresent ? "w" : header.value.value);
    }
    for (const FieldMatch& query : match.query) {
      if (query.type == MatchType::kRegex) return std::nullopt;
      witness.query += (witness.query.empty() ? "" : "&") + query.name.value + "=" + query.value.value;
    }
    return witness;
  }

  // ---- The engines
  // ---------------------------------------------------------------------------------------------------

  void compare(const ir::Candidate& candidate, const Place& place, const Witness& witness, std::uint32_t group,
               const Literals& literals) {
    if (!comparison_.needed()) return;
    if (!compare_one(candidate, witness, group)) return;
    const std::size_t cost = 1 + host_.slots.size() / 8 + host_.regexes.size();
    if (budget_ < cost) return;
    for (const Witness& near : maker_.near_misses(witness, place, literals)) {
      if (budget_ < cost) return;
      budget_ -= cost;
      if (!compare_one(candidate, near, group)) return;
    }
  }

  bool compare_one(const ir::Candidate& candidate, const Witness& witness, std::uint32_t group) {
    ++stats_.requests;
    const WitnessView view(witness);
    const auto difference = comparison_.compare(view.view(), group);
    if (difference) report_.disagreement(candidate, *difference, witness);
    return !difference;
  }

  const LinkedConfig& config_;
  const ir::Host& host_;
  program::Section section_;
  Matcher matcher_;
  WitnessMaker maker_;
  Witness plain_;
  EngineComparison comparison_;
  ProofReport report_;
  ProofStats stats_;
  const ir::Group* group_ = nullptr;
  std::optional<ir::Candidate> first_candidate_;
  std::vector<ir::Candidate> rivals_;  ///< of this group: what took the requests of the current round
  std::optional<Witness> taken_;       ///< the last request that another rule took
  std::size_t budget_ = kNearMissBudget;
};

}  // namespace

ProofStats prove_host(const LinkedConfig& config, const ir::Host& host, const program::SectionView& section,
                      const Engines& engines, Diagnostics& diagnostics) {
  return HostProof(config, host, section, engines, diagnostics).run();
}

}  // namespace edge::compiler::analyze
