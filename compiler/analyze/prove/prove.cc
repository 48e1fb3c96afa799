#include "compiler/analyze/prove/prove.h"

#include <algorithm>
#include <string_view>

#include "compiler/analyze/prove/compare_engines.h"
#include "compiler/analyze/prove/prove_report.h"
#include "compiler/analyze/prove/reach.h"
#include "compiler/analyze/prove/solve.h"
#include "compiler/analyze/prove/witness_maker.h"
#include "compiler/analyze/space/match_set.h"
#include "compiler/expr/regex_matcher.h"
#include "program/evaluate/evaluate.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

/// Bounds of the search for one candidate. What is not found within them is counted as undecided.
constexpr std::size_t kMaxRounds = 8;
constexpr std::size_t kMaxWays = 32;
constexpr std::size_t kMaxPaths = 24;
/// Steps of deciding what guesses did not find: for all rules of one host, and for one example.
constexpr std::uint64_t kHostEffort = 20'000'000;
constexpr std::uint64_t kExampleEffort = 100'000;
/// Work on near misses for one host, in conditions looked at; a host with thousands of patterns stays bounded.
constexpr std::size_t kNearMissBudget = 400'000;
/// program::NodeRecord::slot is 16 bits wide.
constexpr std::size_t kMaxSlots = 60'000;

class HostProof {
 public:
  HostProof(const LinkedConfig& config, const ir::Host& host, const program::SectionView& section,
            const Engines& engines, Diagnostics& diagnostics, std::vector<Shadowing>* shadowed)
      : config_(config),
        host_(host),
        section_{program::SectionKind::kHost, host.id, {}, section},
        matcher_(expr::regex_matcher()),
        maker_(config, host, matcher_),
        plain_(maker_.plain("/")),
        comparison_(section_, engines, matcher_),
        report_(config, host, diagnostics),
        shadowed_(shadowed) {}

  ProofStats run() {
    if (host_.slots.size() > kMaxSlots) {
      report_.too_large("it tests " + std::to_string(host_.slots.size()) + " different headers and query keys");
      return stats_;
    }
    for (const auto& [path, group] : host_.exact) prove_group(group, {PathClass::kExact, path});
    prove_group(host_.early_regex, {PathClass::kEarlyRegex, {}});
    for (const auto& [path, group] : host_.prefix) prove_group(group, {PathClass::kPrefix, path});
    prove_group(host_.regex, {PathClass::kRegex, {}});
    prove_group(host_.any, {PathClass::kAny, {}});
    report_dropped();
    if (comparison_.fault() && !first_candidate_) return stats_;
    if (comparison_.fault()) report_.disagreement(*first_candidate_, *comparison_.fault(), std::nullopt);
    return stats_;
  }

 private:
  void prove_group(const ir::Group& group, const CandidatePath& candidate_path) {
    group_ = &group;
    for (const ir::Candidate& candidate : group) {
      if (!first_candidate_) first_candidate_ = candidate;
      ++stats_.rules;
      if (candidate.predicate != ir::kAlways || !reach_plainly(candidate, candidate_path))
        search(candidate, candidate_path);
    }
  }

  /// The usual case, without any allocation: no condition but the path, and no other rule in the way.
  bool reach_plainly(const ir::Candidate& candidate, const CandidatePath& candidate_path) {
    for (const std::string_view suffix : {"", "/~w"}) {
      plain_.path.assign(candidate_path.path).append(suffix);
      if (plain_.path.empty()) plain_.path = "/";
      if (!is(candidate, evaluate(plain_))) {
        if (candidate_path.path_class != PathClass::kPrefix && candidate_path.path_class != PathClass::kAny)
          return false;
        continue;
      }
      ++stats_.reached;
      return true;
    }
    return false;
  }

  program::Evaluation evaluate(const Witness& witness) {
    ++stats_.requests;
    const WitnessView view(witness);
    return program::evaluate_host(section_, view.view(), matcher_);
  }

  bool is(const ir::Candidate& candidate, const program::Evaluation& outcome) const {
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

  /// Looks for a request that reaches `candidate`, first by guessing: a rule that takes what was made up becomes a
  /// goal, not that rule. Where guesses end, the question is decided.
  void search(const ir::Candidate& candidate, const CandidatePath& candidate_path) {
    std::vector<Goal> goals;
    if (candidate.predicate != ir::kAlways) goals.push_back({candidate.predicate, true});
    for (std::size_t round = 0; round < kMaxRounds; ++round) {
      rivals_.clear();
      const Search result = solve(host_, goals, kMaxWays, [&](const Literals& literals) {
        return try_literals(candidate, candidate_path, literals);
      });
      if (result == Search::kFound) return;
      const std::size_t before = goals.size();
      for (const ir::Candidate& earlier : *group_) {
        if (&earlier == &candidate) break;
        if (contains(rivals_, earlier)) goals.push_back({earlier.predicate, false});
      }
      if (goals.size() == before) break;
    }
    decide(candidate, candidate_path);
  }

  bool try_literals(const ir::Candidate& candidate, const CandidatePath& candidate_path, const Literals& literals) {
    const std::optional<Witness> filled = maker_.fill(literals);
    if (!filled) return false;
    std::size_t tried = 0;
    for (const std::string& path : maker_.paths(candidate_path, literals)) {
      if (tried == kMaxPaths) break;
      if (!maker_.path_fits(path, literals)) continue;
      ++tried;
      Witness witness = *filled;
      witness.path = path;
      const program::Evaluation outcome = evaluate(witness);
      if (is(candidate, outcome)) {
        ++stats_.reached;
        compare(candidate, candidate_path, witness, outcome.group, literals);
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
    }
    return false;
  }

  static bool contains(const std::vector<ir::Candidate>& list, const ir::Candidate& candidate) {
    return std::any_of(list.begin(), list.end(), [&candidate](const ir::Candidate& other) {
      return other.route == candidate.route && other.rule == candidate.rule && other.match == candidate.match;
    });
  }

  // ---- The decision, over all requests
  // -----------------------------------------------------------------------------------------

  void decide(const ir::Candidate& candidate, const CandidatePath& candidate_path) {
    Effort effort(std::min(decision_effort_, kUsualEffort));
    const std::uint64_t before = effort.left();
    Reach reach = reach_search().decide(
        {candidate_path.path_class, std::string(candidate_path.path), candidate.predicate}, effort);
    decision_effort_ -= before - effort.left();
    stats_.requests += reach.taken.size();
    switch (reach.state) {
      case Reach::State::kReached:
        ++stats_.reached;
        return compare(candidate, candidate_path, *reach.request);
      case Reach::State::kCovered:
        return shadowed(candidate, reach);
      case Reach::State::kImpossible:
        ++stats_.unreachable;
        return report_.contradiction(candidate);
      case Reach::State::kNowhere:
        return report_.disagreement(candidate, "the tables do not lead to this rule", reach.request);
      case Reach::State::kNotDecided:
        ++stats_.undecided;
        return report_.not_decided(candidate, reach.reason);
    }
  }

  void shadowed(const ir::Candidate& loser, const Reach& reach) {
    Shadowing shadowing{.loser = loser, .winners = {}, .request = {}, .of_server = reach.of_server};
    for (const Taken& taken : reach.taken) {
      if (const ir::Candidate* const winner = candidate_of(taken.taker)) shadowing.winners.push_back(*winner);
    }
    if (shadowing.winners.size() != reach.taken.size()) {
      return report_.disagreement(loser, "a rule that is not in the tables takes its requests",
                                  reach.taken.front().request);
    }
    shadowing.request = reach.taken.front().request;
    reported(std::move(shadowing));
  }

  void reported(Shadowing shadowing) {
    ++stats_.unreachable;
    if (config_.routes[shadowing.loser.route].rules[shadowing.loser.rule].implied) return;
    report_.unreachable(shadowing);
    if (shadowed_ != nullptr) shadowed_->push_back(std::move(shadowing));
  }

  const ir::Candidate* candidate_of(const TableRule& rule) const {
    const auto in = [&](const ir::Group& group) -> const ir::Candidate* {
      const auto found = std::ranges::find(group, rule.predicate, &ir::Candidate::predicate);
      return found == group.end() ? nullptr : &*found;
    };
    if (rule.path_class == PathClass::kEarlyRegex) return in(host_.early_regex);
    if (rule.path_class == PathClass::kRegex) return in(host_.regex);
    if (rule.path_class == PathClass::kAny) return in(host_.any);
    const auto& groups = rule.path_class == PathClass::kExact ? host_.exact : host_.prefix;
    const auto group = groups.find(rule.path);
    return group == groups.end() ? nullptr : in(group->second);
  }

  /// Made when the first rule needs it: of most hosts, none does.
  ReachSearch& reach_search() {
    if (!reach_search_) reach_search_.emplace(section_, plain_, matcher_);
    return *reach_search_;
  }

  /// What the lowering found to be hidden or contradictory already.
  void report_dropped() {
    for (const ir::Shadowed& dropped : host_.shadowed) {
      ++stats_.rules;
      reported({.loser = dropped.loser, .winners = {dropped.winner}, .request = example_of(dropped)});
    }
    for (const ir::Candidate& candidate : host_.impossible) {
      ++stats_.rules;
      ++stats_.unreachable;
      report_.contradiction(candidate);
    }
  }

  /// A request that the loser would take and the winner takes. None where the winner is hidden itself.
  std::optional<Witness> example_of(const ir::Shadowed& dropped) {
    const LinkedRoute& route = config_.routes[dropped.loser.route];
    if (auto plain = plain_example(dropped.loser); plain && is(dropped.winner, evaluate(*plain))) return plain;
    if (decision_effort_ == 0) return std::nullopt;
    ReachSearch& search = reach_search();
    const Set loser =
        match_set(search.space(), config_.listeners[host_.listener], route, dropped.loser.rule, dropped.loser.match);
    Effort effort(std::min(decision_effort_, kExampleEffort));
    const std::uint64_t before = effort.left();
    const auto example =
        search.request_of(loser, effort, [&](const Witness& request) { return is(dropped.winner, evaluate(request)); });
    decision_effort_ -= before - effort.left();
    return example;
  }

  /// A request for a match that has neither pattern nor expression.
  std::optional<Witness> plain_example(const ir::Candidate& candidate) const {
    if (config_.routes[candidate.route].expression) return std::nullopt;
    const RuleMatch& match = config_.routes[candidate.route].rules[candidate.rule].matches[candidate.match];
    if (match.path.type == PathMatch::Type::kRegex) return std::nullopt;
    Witness witness = maker_.plain(match.path.type == PathMatch::Type::kNone ? "/" : match.path.value.value);
    if (match.method) witness.method = match.method->value;
    for (const FieldMatch& header : match.headers) {
      if (header.type == MatchType::kRegex) return std::nullopt;
      witness.headers.emplace_back(matched_field(config_.listeners[host_.listener], header.name.value),
                                   header.type == MatchType::kPresent ? "w" : header.value.value);
    }
    for (const FieldMatch& query : match.query) {
      if (query.type == MatchType::kRegex) return std::nullopt;
      witness.query += (witness.query.empty() ? "" : "&") + query.name.value + "=" + query.value.value;
    }
    return witness;
  }

  // ---- The engines
  // ---------------------------------------------------------------------------------------------------

  /// A request that the decision found: nothing was guessed, so every condition of the rule is as the request has it.
  void compare(const ir::Candidate& candidate, const CandidatePath& candidate_path, const Witness& witness) {
    if (!comparison_.needed()) return;
    const WitnessView view(witness);
    const program::SlotValues values(section_, view.view(), matcher_);
    Literals literals;
    add_conditions(candidate.predicate, values.input(), literals);
    compare(candidate, candidate_path, witness, evaluate(witness).group, literals);
  }

  void add_conditions(std::uint32_t node, const program::MatchInput& input, Literals& literals) const {
    if (node == ir::kAlways) return;
    const ir::Node& condition = host_.nodes[node];
    for (const std::uint32_t operand : condition.operands) add_conditions(operand, input, literals);
    if (condition.operands.empty()) literals.push_back({node, program::holds(section_.view, node, input)});
  }

  void compare(const ir::Candidate& candidate, const CandidatePath& candidate_path, const Witness& witness,
               std::uint32_t group, const Literals& literals) {
    if (!comparison_.needed()) return;
    if (!compare_one(candidate, witness, group)) return;
    const std::size_t cost = 1 + host_.slots.size() / 8 + host_.regexes.size();
    if (budget_ < cost) return;
    for (const Witness& near : maker_.near_misses(witness, candidate_path, literals)) {
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
  std::vector<Shadowing>* shadowed_;   ///< may be null
  std::optional<ReachSearch> reach_search_;
  std::uint64_t decision_effort_ = kHostEffort;
  std::size_t budget_ = kNearMissBudget;
};

}  // namespace

ProofStats prove_host(const LinkedConfig& config, const ir::Host& host, const program::SectionView& section,
                      const Engines& engines, Diagnostics& diagnostics, std::vector<Shadowing>* shadowed) {
  return HostProof(config, host, section, engines, diagnostics, shadowed).run();
}

}  // namespace edge::compiler::analyze
