// Claims held against all requests of small worlds: one that is said to hold is broken by no request of the world, and
// the request that is said to break one does, by the reference matcher.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "compiler/analyze/claims/claim.h"
#include "compiler/compile.h"
#include "compiler/link/policies/effective_policies.h"
#include "program/claim_field.h"
#include "tests/reference/reference.h"
#include "tests/worlds/small_world.h"

namespace edge::worlds {
namespace {

using compiler::LinkedConfig;
using compiler::PolicyType;
using compiler::analyze::ClaimResult;
using compiler::expr::Expression;
using compiler::expr::Fact;
using reference::Answer;
using reference::OwnedRequest;
using reference::Reference;

const reference::Bind kBind{std::nullopt, 80};

/// Gateway and routes get policies; nothing more is needed of them here than their types.
void add_policies(Chance& chance, LinkedConfig& config) {
  for (const PolicyType type : {PolicyType::kOidc, PolicyType::kRateLimit}) {
    compiler::LinkedPolicy& policy = config.policies.emplace_back();
    policy.identity = {"ProxyPolicy", "edge", "p" + std::to_string(config.policies.size()), 0, {}};
    policy.type = type;
    policy.enforced = true;
    if (type == PolicyType::kOidc) {
      policy.settings = compiler::OidcSettings{};
    } else {
      policy.settings = compiler::RateLimitSettings{.limits = {{.requests = 1, .burst = 1, .keys = {{}}}}};
    }
  }
  if (chance.one_in(3)) config.gateways[0].policies.push_back(1);
  for (compiler::LinkedRoute& route : config.routes) {
    if (chance.one_in(2)) route.policies.push_back(0);
  }
}

std::string random_fact(Chance& chance) {
  const std::vector<std::string> facts = {"policy OIDC",      "policy RateLimit",   "status 404",
                                          "backend edge/app", "backend edge/next",  "route edge/r0",
                                          "route edge/r1",    "host == \"a.test\"", "host in \"*.a.test\""};
  return (chance.one_in(4) ? "not " : "") + chance.of(facts);
}

std::string random_claim(Chance& chance) {
  std::string claim = "(" + small_expression(chance, 2) + ")";
  if (chance.one_in(2)) claim += " AND " + random_fact(chance);
  claim += " implies " + random_fact(chance);
  if (chance.one_in(3)) claim += " OR " + random_fact(chance);
  return claim;
}

/// One request with one choice of backend, decided literally.
struct Run {
  const LinkedConfig& config;
  const OwnedRequest& request;
  std::optional<Answer> answer;
  std::string backend;

  bool fact(const Expression& fact) const {
    switch (fact.fact) {
      case Fact::kHost:
        return HostPattern::parse(fact.value)->matches(request.host);
      case Fact::kRoute:
        return answer && "edge/" + config.routes[answer->route].identity.name == fact.value;
      case Fact::kBackend:
        return backend == fact.value;
      case Fact::kStatus:
        return !answer && fact.value == "404";
      case Fact::kPolicy: {
        if (!answer) return false;
        const auto policies = compiler::link::effective_policies(config, 0, config.routes[answer->route]);
        return std::ranges::any_of(
            policies, [&](std::uint32_t policy) { return type_text(config.policies[policy].type) == fact.value; });
      }
      default:
        return false;
    }
  }

  bool field(const std::string& name, const std::string& value) const {
    return std::ranges::any_of(request.headers,
                               [&](const auto& header) { return header.first == name && header.second == value; });
  }

  bool holds(const Expression& tree) const {
    const auto whole = [&](const Expression& operand) { return holds(operand); };
    const std::string& path = request.path;
    switch (tree.kind) {
      case Expression::Kind::kAnd:
        return std::ranges::all_of(tree.operands, whole);
      case Expression::Kind::kOr:
        return std::ranges::any_of(tree.operands, whole);
      case Expression::Kind::kNot:
        return !holds(tree.operands[0]);
      case Expression::Kind::kHeader:
        return field(tree.name, tree.value);
      case Expression::Kind::kQuery:
        return request.query == tree.name + "=" + tree.value ||
               request.query.starts_with(tree.name + "=" + tree.value + "&");
      case Expression::Kind::kClaim:
        return field(program::claim_field(tree.name), tree.value);
      case Expression::Kind::kClaimContains:
        return std::ranges::any_of(request.headers, [&](const auto& header) {
          return header.first == program::claim_item_field(tree.name, tree.value);
        });
      case Expression::Kind::kMethod:
        return request.method == tree.value;
      case Expression::Kind::kPathExact:
        return path == tree.value;
      case Expression::Kind::kPathPrefix:
        return path.starts_with(tree.value) && (path.size() == tree.value.size() || path[tree.value.size()] == '/');
      case Expression::Kind::kPathContains:
        return path.find(tree.value) != std::string::npos;
      case Expression::Kind::kSourceIn:
        return tree.cidr.contains(request.source);
      case Expression::Kind::kFact:
        return fact(tree);
    }
    return false;
  }
};

/// The backends that a request may go to (rule D3); one empty name where there is none.
std::vector<std::string> backends_of(const LinkedConfig& config, const std::optional<Answer>& answer,
                                     const OwnedRequest& request) {
  if (!answer) return {""};
  const auto& all = config.routes[answer->route].rules[answer->rule].backends;
  const auto name = [&](const compiler::WeightedBackend& backend) {
    return "edge/" + config.backends[*backend.backend].identity.name;
  };
  const bool canary = std::ranges::find(request.headers, std::pair<std::string, std::string>("x-canary", "true")) !=
                      request.headers.end();
  if (canary) return {name(*std::ranges::min_element(all, {}, &compiler::WeightedBackend::weight))};
  std::vector<std::string> names;
  for (const auto& backend : all) {
    if (backend.weight > 0) names.push_back(name(backend));
  }
  return names;
}

/// Whether some choice of backend makes the claim fail for this request.
bool broken_by(const LinkedConfig& config, const Reference& reference, const Expression& claim, bool of_untaken,
               const OwnedRequest& request) {
  const std::optional<Answer> answer = reference.answer(kBind, request);
  if (!answer && !of_untaken) return false;
  return std::ranges::any_of(backends_of(config, answer, request), [&](const std::string& backend) {
    return !Run{config, request, answer, backend}.holds(claim);
  });
}

struct Counts {
  std::size_t held = 0;
  std::size_t failed = 0;
};

void check_world(std::uint64_t seed, const std::vector<OwnedRequest>& requests, Counts& counts) {
  Chance chance(seed);
  LinkedConfig config = small_config(chance);
  add_policies(chance, config);
  const Reference reference(config);
  compiler::Compiler compiler({.target = program::Target::kTablesOnly, .prove = false});
  Diagnostics diagnostics;
  const auto artifact = compiler.compile(config, diagnostics);
  ASSERT_TRUE(artifact && diagnostics.ok());
  const auto program = program::read(artifact->bytes);
  ASSERT_TRUE(program.ok());
  compiler::analyze::ClaimCheck check(*program);
  for (int i = 0; i < 12; ++i) {
    const std::string text = random_claim(chance);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const auto parsed = compiler::expr::parse_claim(text, compiler::analyze::policy_types());
    ASSERT_TRUE(parsed.expression) << parsed.fault->message;
    const bool of_untaken = text.find("policy") == std::string::npos || text.find("status") != std::string::npos ||
                            text.find("backend") != std::string::npos || text.find("route") != std::string::npos;
    const ClaimResult result = check.check(*parsed.expression);
    ASSERT_NE(result.state, ClaimResult::State::kNotDecided);
    if (result.state == ClaimResult::State::kHolds) {
      ++counts.held;
      for (const OwnedRequest& request : requests) {
        ASSERT_FALSE(broken_by(config, reference, *parsed.expression, of_untaken, request)) << request_line(request);
      }
      continue;
    }
    ++counts.failed;
    OwnedRequest request;
    request.method = result.request->method;
    request.host = result.request->host;
    request.path = result.request->path;
    request.query = result.request->query;
    request.headers = result.request->headers;
    request.source = result.request->source;
    ASSERT_TRUE(broken_by(config, reference, *parsed.expression, of_untaken, request)) << request_line(request);
  }
}

TEST(ClaimWorlds, AreWhatEnumerationFinds) {
  const std::vector<OwnedRequest> requests = every_request();
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 12 && !::testing::Test::HasFatalFailure(); ++seed) {
    check_world(seed, requests, counts);
  }
  EXPECT_GT(counts.held, 10U);
  EXPECT_GT(counts.failed, 50U);
}

}  // namespace
}  // namespace edge::worlds
