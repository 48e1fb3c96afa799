// JWT: requests with a token signed by a trusted issuer pass, and the backend gets its claims. docs/jwt.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http1/head.h"
#include "net/task.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/jwt/jwks_store.h"
#include "runtime/policy/auth/jwt/jwt.h"
#include "runtime/policy/auth/keyed_digest.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::auth {

/// Immutable, shared by all threads.
class JwtPolicy {
 public:
  /// Starts to fetch the keys.
  static Result<std::shared_ptr<const JwtPolicy>> make(const PolicyContext& making, const program::PolicyRecord& policy,
                                                       const program::JwtRecord& record);

  /// Waits for keys only: at the start, or for an unknown one. A token seen before costs a hash and a lookup.
  net::Task<AuthResult> ask(const PolicyRequest& policy_request, AuthContext context) const;

 private:
  struct ClaimHeader {
    std::string claim;
    std::string header;
  };
  /// What a rule asks of a claim.
  struct MatchedClaim {
    std::string claim;
    std::optional<std::string> item;  ///< an element; nullopt: the text
  };
  JwtPolicy() = default;

  /// An issuer, with its keys: those of a URL, which change, or those of the configuration.
  struct Issuer {
    TokenRules rules;
    /// All settings that affect the result, for the cache key.
    std::string identity;
    std::shared_ptr<const JwksSource> source;  ///< null: the keys are `fixed`
    KeysNow fixed{};

    KeysNow keys(net::Time now) const { return source != nullptr ? source->keys(now) : fixed; }
  };
  static Result<Issuer> make_issuer(const PolicyContext& making, const program::JwtIssuerRecord& record,
                                    std::int64_t skew);
  static Status find_keys(const PolicyContext& making, const program::JwtIssuerRecord& record, Issuer& issuer);
  /// Returns the issuer that a token names; null: none of these. Of one issuer no token is read for it.
  const Issuer* issuer_of(std::string_view token) const;

  enum class Search : std::uint8_t { kFound, kMissing, kFault };
  Search find_token(const net::http1::HeadFields& fields, std::string_view& token) const;
  /// nullopt: the token's key is not among these.
  std::optional<AuthResult> check_token(std::string_view token, const Issuer& issuer, const KeysNow& keys,
                                        AuthContext context) const;
  net::Task<AuthResult> ask_with_new_keys(std::string token, const Issuer& issuer, AuthContext context) const;
  std::shared_ptr<const VerifiedClaims> counted(const Token& token, std::size_t& kept) const;
  std::shared_ptr<const MatchedClaims> matched(const Token& token, std::size_t& kept) const;
  AuthResult pass(const Digest& digest, std::string_view issuer, const Token& token, Stores& stores) const;

  std::vector<Issuer> issuers_;
  std::string header_;
  std::string prefix_;
  std::vector<ClaimHeader> claim_headers_;
  /// The claims that rate limits of the program count by.
  std::vector<std::string> counted_claims_;
  /// Those that rules match on the listeners where this policy verifies tokens first.
  std::vector<MatchedClaim> matched_claims_;
  /// What each of them is matched as.
  std::shared_ptr<const std::vector<std::string>> matched_fields_;
};

/// Returns a claim as a field value: strings, numbers and booleans as they are, a list of them separated by commas.
/// Empty for a claim that would be ambiguous.
std::string claim_text(const Json& claim);

/// Returns whether a claim has an element of this text: one of a list, the whole of a text, a number or a boolean, and
/// of `scope` (RFC 8693 §4.2) and `scp` also one of the words that blanks separate.
bool claim_contains(std::string_view name, const Json& claim, std::string_view item);

}  // namespace edge::runtime::auth
