// Signed requests of ACME: JSON Web Signatures in flattened form (RFC 7515 §7.2.2, RFC 8555 §6.2), with an account's
// key on P-256, and the binding of an external account (RFC 8555 §7.3.4). Verifying is of the runtime
// (runtime/policy/auth/jwt).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace edge::controller::acme {

/// The key of an account, ES256. Immutable.
class AccountKey {
 public:
  /// `pem`: PKCS#8. kInvalidArgument where it is no key on P-256; the error quotes nothing of it.
  static Result<AccountKey> read(std::string_view pem);

  /// The public key as JSON, with the members in the order of RFC 7638 §3.
  const std::string& jwk() const { return jwk_; }
  /// RFC 7638, SHA-256, base64url.
  const std::string& thumbprint() const { return thumbprint_; }
  /// Returns a request's body. `identity`: the header's member that names the key, `"kid":"..."` or `"jwk":{...}`.
  /// `payload` empty: POST-as-GET (RFC 8555 §6.3).
  Result<std::string> sign(std::string_view url, std::string_view nonce, std::string_view identity,
                           std::string_view payload) const;

 private:
  AccountKey() = default;
  std::shared_ptr<evp_pkey_st> key_;
  std::string jwk_;
  std::string thumbprint_;
};

/// Returns the value of `externalAccountBinding`: `jwk` signed by HS256 with `mac_key` (bytes).
Result<std::string> bind_account(std::string_view jwk, std::string_view url, std::string_view key_id,
                                 std::string_view mac_key);

/// Returns a text as a JSON string, in quotes.
std::string json_text(std::string_view text);

}  // namespace edge::controller::acme
