// What an authentication policy says of a request.
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

/// How it ended, for the counts.
enum class AuthStatus : std::uint8_t {
  kPassed,
  kDenied,      ///< 401, 403, or what the authorization service answered
  kRedirected,  ///< to a login page
  kFailed,      ///< nobody could tell: 503
};
inline constexpr std::size_t kOutcomes = 4;

/// What a verified token says, of the claims that rate limits count by. Those that it does not have are left out.
using VerifiedClaims = std::vector<std::pair<std::string, std::string>>;

/// One that nothing was said in denies.
struct AuthResult {
  AuthStatus outcome = AuthStatus::kFailed;
  /// Unless it passes. `reason` and `text` are literals, or of the program.
  PolicyAnswer answer{503, "auth-failed", "The request could not be authenticated.", {}};
  /// Where it passes: of the request to the backend.
  RequestEdits request{};
  /// Where it passes: whole lines for the response, Set-Cookie and its like. Those of an answer stand in
  /// `answer.fields`.
  std::string response_fields{};
  /// Where a JWT passes; null where nobody counts by claims.
  std::shared_ptr<const VerifiedClaims> claims{};

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
  /// 503: nobody could tell (fails closed).
  static AuthResult fail(std::string_view reason, std::string_view text) {
    return deny({503, reason, text, {}}, AuthStatus::kFailed);
  }
};

}  // namespace edge::runtime::auth
