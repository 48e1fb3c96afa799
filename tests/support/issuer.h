// An issuer of tokens for tests: keys made on the spot, their JWK, and what they sign. Builds tokens byte by byte, so
// that it can also build what no sound issuer would.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace edge::test {

class SigningKey {
 public:
  /// `algorithm` as `alg` spells it: RS256 to 512, PS256 to 512, ES256 to 512, EdDSA.
  explicit SigningKey(std::string algorithm, std::string id = "key", int rsa_bits = 2048);

  const std::string& algorithm() const { return algorithm_; }
  /// The public half; `more` are further members, each with a comma before it.
  std::string jwk(std::string_view more = {}) const;
  /// Of any text, in the form that JWS has for the algorithm.
  std::string sign(std::string_view text) const;

  /// With a header of `alg` and `kid`.
  std::string token(std::string_view claims) const;
  std::string token_with(std::string_view header, std::string_view payload) const;

 private:
  std::string algorithm_;
  std::string id_;
  std::shared_ptr<evp_pkey_st> key_;
};

/// HS256 of any text by any secret.
std::string sign_hmac(std::string_view secret, std::string_view text);

/// `{"keys":[...]}`
std::string jwks(std::initializer_list<std::string> keys);

}  // namespace edge::test
