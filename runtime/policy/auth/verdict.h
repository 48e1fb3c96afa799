// What an authentication policy says of a request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/policy/asked.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime::auth {

/// How it ended, for the counts.
enum class Outcome : std::uint8_t {
  kPassed,
  kDenied,      ///< 401, 403, or what the authorization service answered
  kRedirected,  ///< to a login page
  kFailed,      ///< nobody could tell: 503
};
inline constexpr std::size_t kOutcomes = 4;

/// What a verified token says, of the claims that rate limits count by. Those that it does not have are left out.
using VerifiedClaims = std::vector<std::pair<std::string, std::string>>;

/// One that nothing was said in denies.
struct Verdict {
  Outcome outcome = Outcome::kFailed;
  /// Unless it passes. `reason` and `text` are literals, or of the program.
  PolicyAnswer answer{503, "auth-failed", "The request could not be authenticated.", {}};
  /// Where it passes: of the request to the backend.
  RequestEdits request{};
  /// Where it passes: whole lines for the response, Set-Cookie and its like. Those of an answer stand in
  /// `answer.fields`.
  std::string response_fields{};
  /// Where a JWT passes; null where nobody counts by claims.
  std::shared_ptr<const VerifiedClaims> claims{};

  bool passed() const { return outcome == Outcome::kPassed; }

  static Verdict pass() {
    Verdict verdict;
    verdict.outcome = Outcome::kPassed;
    return verdict;
  }
  static Verdict deny(PolicyAnswer answer, Outcome outcome = Outcome::kDenied) {
    Verdict verdict;
    verdict.outcome = outcome;
    verdict.answer = std::move(answer);
    return verdict;
  }
  /// 503: nobody could tell (fails closed).
  static Verdict fail(std::string_view reason, std::string_view text) {
    return deny({503, reason, text, {}}, Outcome::kFailed);
  }
};

}  // namespace edge::runtime::auth
