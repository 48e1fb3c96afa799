// What authentication costs a request, in CPU microseconds: a token that is checked, one that was seen before,
// credentials that were. script/bench auth [--json FILE]
//
// Of each the best of several rounds, as the machine is shared; a round is long enough for the clock.
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/auth/session_cost.h"
#include "bench/compile/report.h"
#include "bench/cpu_cost.h"
#include "runtime/policy/auth/basic/basic_auth.h"
#include "runtime/policy/auth/jwt/jwt.h"
#include "runtime/policy/auth/jwt/token_cache.h"
#include "tests/support/issuer.h"

namespace {

using namespace edge::runtime::auth;
using edge::bench::Report;

constexpr int kRounds = 9;
constexpr double kRoundMicroseconds = 50'000;

double cost_of(const std::function<bool()>& work) {
  return edge::bench::least_cost(kRounds, kRoundMicroseconds, "auth_bench: what must be good is refused", work);
}

constexpr std::int64_t kNow = 1'800'000'000;
constexpr const char* kClaims =
    R"({"iss":"https://id.example","aud":["shop","web"],"exp":1800000300,"iat":1800000000,"sub":"248289761001",)"
    R"("name":"Jane Doe","email":"janedoe@example.com","realm_access":{"roles":["admin","staff"]}})";

void verify(Report& report, const char* name, std::optional<double> goal) {
  const edge::test::SigningKey signer(name);
  const KeySet keys = *read_key_set(edge::test::jwks({signer.jwk()}));
  TokenRules rules{.issuer = "https://id.example", .audience = {"shop"}};
  rules.algorithms.add(*algorithm_named(name));
  const std::string token = signer.token(kClaims);
  const auto check = [&] { return std::holds_alternative<Token>(verify_token(token, keys, rules, kNow)); };
  report.add("token of " + std::string(name) + ", verified", cost_of(check), "us", goal);
}

/// As JwtPolicy does it for a token that it has seen: a digest, a look-up, the edits of the request.
void find_token(Report& report) {
  const edge::test::SigningKey signer("RS256");
  const std::string token = signer.token(kClaims);
  const std::string identity(200, 'i');
  TokenCache cache;
  auto passed = std::make_shared<PassedToken>();
  passed->request.set("X-User", "248289761001");
  passed->request.set("X-Roles", "admin,staff");
  passed->until = kNow;
  cache.tokens.put(cache.key.of({identity, "generation", token}), passed);
  const auto look_up = [&] {
    const auto found = cache.tokens.find(cache.key.of({identity, "generation", token}));
    edge::runtime::RequestEdits edits;
    if (found) edits = (*found)->request;
    return found && (*found)->until >= kNow && !edits.none();
  };
  report.add("token seen before", cost_of(look_up), "us", 5);
}

void find_credentials(Report& report) {
  CredentialCache cache;
  const std::string hash = "$2y$10$" + std::string(53, 'h');
  cache.right.put(cache.key.of({hash, "alice", "secret"}), edge::net::kNever);
  const auto look_up = [&] {
    BasicCredentials read;
    return read_basic_credentials("Basic YWxpY2U6c2VjcmV0", read) == CredentialsFault::kNone &&
           cache.right.find(cache.key.of({hash, read.user, read.password})).has_value();
  };
  report.add("credentials seen before", cost_of(look_up), "us", 5);
}

}  // namespace

int main(int count, char** arguments) {
  Report report("auth");
  verify(report, "ES256", 60);
  verify(report, "RS256", 30);
  for (const char* name : {"PS256", "ES384", "EdDSA"}) verify(report, name, std::nullopt);
  find_token(report);
  find_credentials(report);
  report.add("session in a cookie", cost_of(edge::bench::session_request(0)), "us", 5);
  report.add("session in a cookie, of 20 groups", cost_of(edge::bench::session_request(20)), "us", std::nullopt);
  if (count == 3 && std::strcmp(arguments[1], "--json") == 0) return report.write_json(arguments[2]) ? 0 : 1;
  return 0;
}
