// What the compiler says about rules that no request reaches, held against all requests of small worlds and the
// reference matcher: what it calls reached is reached by the request that it made up, what it calls hidden is reached
// by none, and the request that shows it does what the report says.
#include <algorithm>
#include <cstdio>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "compiler/analyze/prove/prove.h"
#include "compiler/analyze/prove/reach.h"
#include "compiler/emit/tables.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/ir/lower.h"
#include "compiler/opt/passes.h"
#include "program/format/records.h"
#include "tests/reference/reference.h"
#include "tests/worlds/small_world.h"

namespace edge::worlds {
namespace {

using compiler::LinkedConfig;
using compiler::analyze::Reach;
using compiler::analyze::Shadowing;
using compiler::analyze::TableRule;
using compiler::analyze::Witness;
using reference::Answer;
using reference::OwnedRequest;
using reference::Reference;

const reference::Bind kBind{std::nullopt, 80};
/// Route, rule and match.
using Name = std::tuple<std::uint32_t, std::uint16_t, std::uint16_t>;

OwnedRequest owned(const Witness& witness) {
  OwnedRequest request;
  request.method = witness.method;
  request.host = witness.host;
  request.path = witness.path;
  request.query = witness.query;
  request.headers = witness.headers;
  request.source = witness.source;
  return request;
}

std::optional<Name> winner(const Reference& reference, const OwnedRequest& request) {
  const std::optional<Answer> answer = reference.answer(kBind, request);
  if (!answer) return std::nullopt;
  return Name{answer->route, answer->rule, answer->match};
}

/// The pattern under which a route serves a host: the most specific of its own that covers it.
HostPattern level(const compiler::LinkedRoute& route, const std::string& host) {
  std::vector<HostPattern> covering;
  for (const auto& name : route.hostnames) {
    if (name.value.matches(host)) covering.push_back(name.value);
  }
  if (covering.empty()) return {};
  return *std::ranges::min_element(covering, HostPattern::more_specific);
}

/// Whether the match takes the request when nothing else is there.
bool takes_alone(const LinkedConfig& config, const Name& name, const OwnedRequest& request) {
  const auto& [route, rule, match] = name;
  LinkedConfig alone = config;
  alone.routes = {config.routes[route]};
  alone.routes[0].rules = {config.routes[route].rules[rule]};
  alone.routes[0].rules[0].matches = {config.routes[route].rules[rule].matches[match]};
  return Reference(alone).answer(kBind, request).has_value();
}

Name name_of(const LinkedConfig& config, const program::SectionView& view, std::uint32_t action) {
  const auto& header = view.header<program::HostHeader>();
  const program::ActionRecord& record = view.array(header.actions)[action];
  const std::string_view route = view.string(view.array(header.routes)[record.route].name);
  const auto found =
      std::ranges::find(config.routes, route, [](const auto& candidate) { return candidate.identity.name; });
  return {static_cast<std::uint32_t>(found - config.routes.begin()), record.rule, record.match};
}

Name name_of(const compiler::ir::Candidate& candidate) { return {candidate.route, candidate.rule, candidate.match}; }

struct World {
  LinkedConfig config;
  Reference reference;
  /// By host pattern: the matches that win some request under it.
  std::map<std::string, std::set<Name>> reached;
  std::size_t hidden = 0;
  std::size_t hidden_by_several = 0;

  explicit World(LinkedConfig made) : config(std::move(made)), reference(config) {
    for (const OwnedRequest& request : every_request()) {
      if (const auto name = winner(reference, request)) {
        reached[level(config.routes[std::get<0>(*name)], request.host).text()].insert(*name);
      }
    }
  }

  void check_host(const compiler::ir::Host& host) {
    const std::vector<std::byte> bytes = compiler::emit::emit_host(config, host, program::kNone);
    const program::Section section{program::SectionKind::kHost, host.id, {}, program::SectionView(bytes)};
    check_rules(host, section);
    Diagnostics diagnostics;
    std::vector<Shadowing> shadowed;
    const auto stats = compiler::analyze::prove_host(config, host, section.view, {}, diagnostics, &shadowed);
    EXPECT_EQ(stats.undecided, 0U);
    EXPECT_EQ(stats.rules, stats.reached + stats.unreachable);
    for (const Shadowing& shadowing : shadowed) check_report(host, shadowing);
    hidden += shadowed.size();
    for (const Shadowing& shadowing : shadowed) hidden_by_several += shadowing.winners.size() > 1 ? 1 : 0;
  }

  /// The decision itself, on every rule of the tables.
  void check_rules(const compiler::ir::Host& host, const program::Section& section) {
    Witness base;
    base.host =
        host.pattern.any() ? "other" : (host.pattern.wildcard() ? "z." : "") + std::string(host.pattern.domain());
    const program::RegexMatcher regex = compiler::expr::regex_matcher();
    compiler::analyze::ReachSearch search(section, base, regex);
    const auto& wins = reached[host.pattern.text()];
    for (const TableRule& rule : search.rules().rules()) {
      compiler::analyze::Effort effort(compiler::analyze::kUsualEffort);
      const Reach reach = search.decide(rule, effort);
      const Name name = name_of(config, section.view, rule.action);
      if (reach.state == Reach::State::kReached) {
        EXPECT_EQ(winner(reference, owned(*reach.request)), name) << witness_text(*reach.request);
        continue;
      }
      EXPECT_TRUE(reach.state == Reach::State::kCovered || reach.state == Reach::State::kImpossible);
      EXPECT_FALSE(wins.contains(name)) << "a rule that is called hidden wins a request";
      for (const auto& taken : reach.taken) {
        EXPECT_EQ(winner(reference, owned(taken.request)), name_of(config, section.view, taken.taker.action));
        EXPECT_TRUE(takes_alone(config, name, owned(taken.request))) << witness_text(taken.request);
      }
    }
  }

  /// What users are told.
  void check_report(const compiler::ir::Host& host, const Shadowing& shadowing) {
    EXPECT_FALSE(reached[host.pattern.text()].contains(name_of(shadowing.loser)));
    ASSERT_FALSE(shadowing.winners.empty());
    if (!shadowing.request) return;
    const OwnedRequest request = owned(*shadowing.request);
    EXPECT_EQ(winner(reference, request), name_of(shadowing.winners.front())) << witness_text(*shadowing.request);
    EXPECT_TRUE(takes_alone(config, name_of(shadowing.loser), request)) << witness_text(*shadowing.request);
  }

  void check() {
    compiler::ir::PreparedRoutes prepared;
    Diagnostics diagnostics;
    prepared.prepare(config, diagnostics);
    ASSERT_TRUE(diagnostics.ok());
    for (const auto& [key, routes] : compiler::ir::collect_hosts(config)) {
      compiler::ir::Host host = compiler::ir::lower_host(config, prepared, key, routes);
      compiler::opt::optimize(host);
      check_host(host);
    }
  }
};

TEST(ShadowWorlds, ReportsAreWhatEnumerationFinds) {
  std::size_t hidden = 0;
  std::size_t hidden_by_several = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Chance chance(seed);
    World world(small_config(chance));
    world.check();
    hidden += world.hidden;
    hidden_by_several += world.hidden_by_several;
    if (::testing::Test::HasFailure()) break;
  }
  // The worlds are not all plain.
  EXPECT_GT(hidden, 50U);
  EXPECT_GT(hidden_by_several, 0U);
  std::printf("%zu rules hidden, %zu of them by several others\n", hidden, hidden_by_several);
}

}  // namespace
}  // namespace edge::worlds
