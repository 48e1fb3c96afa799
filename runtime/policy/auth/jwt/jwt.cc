#include "runtime/policy/auth/jwt/jwt.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace edge::runtime::auth {
namespace {

/// Past the year 5000: whoever counts in milliseconds is told, and sums do not overflow.
constexpr double kLatest = 1e11;

constexpr JsonBounds kClaimBounds{.bytes = kMaxTokenBytes, .depth = 16, .values = 2048, .members = 256};

enum class Presence : std::uint8_t { kAbsent, kSound, kFault };

struct Instant {
  Presence presence = Presence::kAbsent;
  std::int64_t seconds = 0;
};

/// A NumericDate (RFC 7519 §2): a number, whole or not. A number in quotes is none. Rounded down.
Instant instant(const Json& claims, std::string_view name) {
  const Json* const claim = claims.find(name);
  if (claim == nullptr) return {};
  const std::optional<double> value = claim->number();
  if (!value || !(*value >= 0 && *value <= kLatest)) return {Presence::kFault, 0};
  return {Presence::kSound, static_cast<std::int64_t>(std::floor(*value))};
}

/// RFC 7519 §4.1.3: one text, or a list of them.
TokenFault check_audience(const Json& claims, const std::vector<std::string>& wanted) {
  const Json* const claim = claims.find("aud");
  if (claim == nullptr) return wanted.empty() ? TokenFault::kNone : TokenFault::kAudience;
  const auto is_wanted = [&](const Json& name) {
    return std::ranges::any_of(wanted, [&](const std::string& each) { return name.text() == each; });
  };
  if (claim->text()) return wanted.empty() || is_wanted(*claim) ? TokenFault::kNone : TokenFault::kAudience;
  const auto is_text = [](const Json& name) { return name.text().has_value(); };
  if (!claim->is_array() || !std::ranges::all_of(claim->items(), is_text)) return TokenFault::kClaims;
  return wanted.empty() || std::ranges::any_of(claim->items(), is_wanted) ? TokenFault::kNone : TokenFault::kAudience;
}

}  // namespace

TokenFault check_claims(const Json& claims, const TokenRules& rules, std::int64_t unix_now) {
  if (!claims.is_object()) return TokenFault::kClaims;
  const Json* const issuer = claims.find("iss");
  if (issuer == nullptr) return TokenFault::kIssuer;
  if (!issuer->text()) return TokenFault::kClaims;
  if (issuer->text() != rules.issuer) return TokenFault::kIssuer;
  if (const TokenFault fault = check_audience(claims, rules.audience); fault != TokenFault::kNone) return fault;
  const Instant expires = instant(claims, "exp");
  const Instant begins = instant(claims, "nbf");
  const Instant issued = instant(claims, "iat");
  for (const Instant& each : {expires, begins, issued}) {
    if (each.presence == Presence::kFault) return TokenFault::kClaims;
  }
  if (expires.presence == Presence::kAbsent) return TokenFault::kNoExpiry;
  if (unix_now >= expires.seconds + rules.skew) return TokenFault::kExpired;
  for (const Instant& each : {begins, issued}) {
    if (each.presence == Presence::kSound && unix_now + rules.skew < each.seconds) return TokenFault::kNotYet;
  }
  return TokenFault::kNone;
}

std::optional<std::string> unverified_issuer(std::string_view token) {
  Jws jws;
  if (read_jws(token, jws) != TokenFault::kNone) return std::nullopt;
  const Result<Json> claims = read_json(jws.payload, kClaimBounds);
  const auto issuer = claims && claims->is_object() ? claims->text_of("iss") : std::nullopt;
  return issuer ? std::optional(std::string(*issuer)) : std::nullopt;
}

std::variant<Token, TokenFault> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                                             std::int64_t unix_now) {
  Jws jws;
  if (const TokenFault fault = read_jws(token, jws); fault != TokenFault::kNone) return fault;
  if (const TokenFault fault = verify_jws(jws, keys, rules.algorithms); fault != TokenFault::kNone) return fault;
  Result<Json> claims = read_json(jws.payload, kClaimBounds);
  if (!claims) return TokenFault::kClaims;
  if (const TokenFault fault = check_claims(*claims, rules, unix_now); fault != TokenFault::kNone) return fault;
  const std::int64_t until = instant(*claims, "exp").seconds + rules.skew - 1;
  return Token{*std::move(claims), jws.algorithm, std::move(jws.key_id), until};
}

}  // namespace edge::runtime::auth
