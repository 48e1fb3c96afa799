// Any bytes as a token, and as the claims of one that was signed: read in bounds, and never good without a signature
// that a key vouches for.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/policy/auth/jwt/jwt.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::runtime::auth;

/// One key of each kind, all of RFC 7515, RFC 7517 and RFC 8037.
constexpr std::string_view kKeys = R"({"keys":[
{"kty":"EC","crv":"P-256","kid":"e","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
{"kty":"OKP","crv":"Ed25519","kid":"o","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
{"kty":"RSA","kid":"r","e":"AQAB","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}]})";

TokenRules rules_of() {
  TokenRules rules{.issuer = "https://id.test", .audience = {"shop"}};
  for (const char* name : {"RS256", "PS256", "ES256", "EdDSA"}) rules.algorithms.add(*algorithm_named(name));
  return rules;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const KeySet keys = *read_key_set(kKeys);
  static const TokenRules rules = rules_of();
  // Of the exact size, so that a read past its end is found.
  const auto exact = std::make_unique<char[]>(size);
  std::copy(data, data + size, exact.get());
  const std::string_view text(exact.get(), size);
  Jws jws;
  if (read_jws(text, jws) == TokenFault::kNone) {
    require(size <= kMaxTokenBytes && jws.signed_text.size() < size && jws.payload.size() < size);
    require(jws.signed_text.data() == text.data() && !jws.signature.empty());
  }
  const auto verified = verify_token(text, keys, rules, 1'800'000'000);
  require(std::holds_alternative<TokenFault>(verified));
  const auto claims = edge::runtime::auth::read_json(text);
  if (claims && check_claims(*claims, rules, 1'800'000'000) == TokenFault::kNone) {
    require(claims->text_of("iss") == "https://id.test" && claims->find("exp") != nullptr);
  }
  return 0;
}
