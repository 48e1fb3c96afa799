// The result of an authentication policy for one request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/policy/policy_request.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime::auth {

/// The outcome, for the counters.
enum class AuthStatus : std::uint8_t {
  kPassed,
  kDenied,      ///< 401, 403, or the authorization service's answer
  kRedirected,  ///< to a login page
  kFailed,      ///< could not be decided: 503
};
inline constexpr std::size_t kOutcomes = 4;

struct OidcIdentity;

/// The claims of a verified token that rate limits count by, or that rules match. Missing claims are omitted.
using VerifiedClaims = std::vector<std::pair<std::string, std::string>>;

/// The claims of a verified token that rules match. Few bytes a claim: a token is kept with them.
struct MatchedClaims {
  struct Held {
    std::uint32_t field = 0;  ///< index in `fields`
    std::string text{};       ///< empty for an element
  };
  /// The names that claims are matched as (program/claim_field.h), those of the policy.
  std::shared_ptr<const std::vector<std::string>> fields;
  std::vector<Held> held{};
};

/// A default-constructed result denies.
struct AuthResult {
  AuthStatus outcome = AuthStatus::kFailed;
  /// The answer unless the request passes. `reason` and `text` are literals, or strings of the program.
  PolicyAnswer answer{503, "auth-failed", "The request could not be authenticated.", {}};
  /// If it passes: the edits of the request for the backend.
  RequestEdits request{};
  /// If it passes: complete lines for the response, such as Set-Cookie. Those of an answer are in `answer.fields`.
  std::string response_fields{};
  /// If a JWT passes; null where no rate limit counts by claims.
  std::shared_ptr<const VerifiedClaims> claims{};
  /// If a JWT passes: fields by which rules match its claims (program/claim_field.h); null: none do.
  std::shared_ptr<const MatchedClaims> matched{};
  /// If it passes: whom the policy has found, by the name that it has for them (a user, a key's name, the subject of a
  /// token); empty: it names nobody. Rate limits by `identity` count by it.
  std::string subject{};
  /// Of a login whose settings say `tells_identity`: who passes, or has logged out; else null.
  std::shared_ptr<const OidcIdentity> identity{};

  bool passed() const { return outcome == AuthStatus::kPassed; }

  static AuthResult pass() {
    AuthResult auth_result;
    auth_result.outcome = AuthStatus::kPassed;
    return auth_result;
  }
  static AuthResult deny(PolicyAnswer answer, AuthStatus outcome = AuthStatus::kDenied) {
    AuthResult auth_result;
    auth_result.outcome = outcome;
    auth_result.answer = std::move(answer);
    return auth_result;
  }
  /// Returns a 503: the policy could not decide (fails closed).
  static AuthResult fail(std::string_view reason, std::string_view text) {
    return deny({503, reason, text, {}}, AuthStatus::kFailed);
  }
};

}  // namespace edge::runtime::auth
