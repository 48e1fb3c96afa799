#include "runtime/policy/auth/oidc/oidc_tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include <openssl/evp.h>

#include "base/text/base64.h"
#include "runtime/policy/auth/oidc/oidc_login.h"

namespace edge::runtime::auth {
namespace {

constexpr JsonBounds kAnswerBounds{.bytes = kMaxTokenAnswer, .depth = 8, .values = 1024, .members = 128};
constexpr std::size_t kMaxTokenText = std::size_t{32} << 10;
/// The longest that is registered has 24.
constexpr std::size_t kMaxErrorName = 32;
constexpr std::int64_t kMaxLifetime = std::int64_t{366} * 24 * 3600;

TokenRequest with_client(const OidcClient& client, ClientAuthentication authentication, std::string body) {
  TokenRequest request;
  request.fields = "Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n";
  if (authentication == ClientAuthentication::kBasic) {
    // Encoded first, so that a colon in the id is no separator (RFC 6749 §2.3.1).
    const std::string credentials = form_encoded(client.id) + ":" + form_encoded(client.secret);
    request.fields += "Authorization: Basic " + to_base64(credentials) + "\r\n";
  } else {
    add_parameter(body, "client_id", client.id);
    add_parameter(body, "client_secret", client.secret);
  }
  request.body = std::move(body);
  return request;
}

/// Goes into a cookie and into fields of requests.
bool fits_field(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTokenText &&
         std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

/// Base64url of the left half of the hash (Core §3.1.3.6).
std::string half_hash(std::string_view text, Algorithm algorithm) {
  const unsigned bits = hash_bits(algorithm);
  const EVP_MD* const digest = bits == 256 ? EVP_sha256() : bits == 384 ? EVP_sha384() : EVP_sha512();
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, digest, nullptr);
  return to_base64url({reinterpret_cast<const char*>(hash.data()), size / 2});
}

LoginFault login_fault(TokenFault fault) {
  switch (fault) {
    case TokenFault::kAlgorithm:
      return LoginFault::kAlgorithm;
    case TokenFault::kUnknownKey:
      return LoginFault::kKey;
    case TokenFault::kSignature:
      return LoginFault::kSignature;
    case TokenFault::kClaims:
    case TokenFault::kNoExpiry:
      return LoginFault::kClaims;
    case TokenFault::kIssuer:
      return LoginFault::kIssuer;
    case TokenFault::kAudience:
      return LoginFault::kAudience;
    case TokenFault::kExpired:
      return LoginFault::kExpired;
    case TokenFault::kNotYet:
      return LoginFault::kNotYet;
    case TokenFault::kNone:
    case TokenFault::kTooLarge:
    case TokenFault::kMalformed:
    case TokenFault::kCritical:
      break;
  }
  return LoginFault::kMalformed;
}

std::optional<LoginFault> claim_fault(const Token& token, const IdTokenRules& rules) {
  const Json& claims = token.claims;
  const std::optional<std::string_view> subject = claims.text_of("sub");
  if (!subject || subject->empty() || subject->size() > 255) return LoginFault::kClaims;
  if (!rules.subject.empty() && *subject != rules.subject) return LoginFault::kSubject;
  if (claims.find("iat") == nullptr) return LoginFault::kClaims;
  const Json* const party = claims.find("azp");
  if (party != nullptr && party->text() != rules.client_id) return LoginFault::kAudience;
  const Json* const audience = claims.find("aud");
  // With several it must say for which of them it was issued (§3.1.3.7, 4).
  if (party == nullptr && audience != nullptr && audience->items().size() > 1) return LoginFault::kAudience;
  const Json* const nonce = claims.find("nonce");
  if (!rules.nonce.empty() && (nonce == nullptr || nonce->text() != rules.nonce)) return LoginFault::kNonce;
  const Json* const hash = claims.find("at_hash");
  if (hash != nullptr && hash->text() != half_hash(rules.access_token, token.algorithm)) {
    return LoginFault::kAccessToken;
  }
  return std::nullopt;
}

}  // namespace

TokenRequest code_request(const OidcClient& client, ClientAuthentication authentication, std::string_view code,
                          std::string_view verifier, std::string_view redirect_uri) {
  std::string body;
  add_parameter(body, "grant_type", "authorization_code");
  add_parameter(body, "code", code);
  add_parameter(body, "redirect_uri", redirect_uri);
  add_parameter(body, "code_verifier", verifier);
  return with_client(client, authentication, std::move(body));
}

TokenRequest refresh_request(const OidcClient& client, ClientAuthentication authentication,
                             std::string_view refresh_token) {
  std::string body;
  add_parameter(body, "grant_type", "refresh_token");
  add_parameter(body, "refresh_token", refresh_token);
  return with_client(client, authentication, std::move(body));
}

Result<TokenAnswer> read_token_answer(std::string_view body) {
  const auto fault = [](std::string text) { return Error{ErrorCode::kFailedPrecondition, std::move(text)}; };
  const Result<Json> json = read_json(body, kAnswerBounds);
  if (!json.ok()) return json.error();
  TokenAnswer answer;
  const auto read = [&](std::string_view name, std::string& to) {
    const Json* const member = json->find(name);
    if (member == nullptr || member->kind() == Json::Kind::kNull) return true;
    const std::optional<std::string_view> text = member->text();
    if (!text || !fits_field(*text)) return false;
    to = *text;
    return true;
  };
  if (!read("access_token", answer.access) || !read("id_token", answer.id) || !read("refresh_token", answer.refresh)) {
    return fault("a token is no text that could be one");
  }
  if (answer.access.empty()) return fault("no access token");
  std::string type(json->text_of("token_type").value_or(""));
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (type != "bearer") return fault("the access token is of another type than Bearer");
  if (const Json* const lifetime = json->find("expires_in")) {
    const auto seconds = lifetime->integer();
    if (!seconds || *seconds < 0) return fault("`expires_in` is no number of seconds");
    answer.expires_in = std::min(*seconds, kMaxLifetime);
  }
  return answer;
}

std::string token_error(std::string_view body) {
  const Result<Json> json = read_json(body, kAnswerBounds);
  const std::string_view name = json.ok() ? json->text_of("error").value_or("") : std::string_view{};
  const bool plain = name.size() <= kMaxErrorName &&
                     std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return plain ? std::string(name) : std::string();
}

std::variant<Token, LoginFault> verify_id_token(std::string_view text, const KeySet& keys, const IdTokenRules& rules,
                                                std::int64_t unix_now) {
  const TokenRules general{
      .issuer = std::string(rules.issuer), .audience = {std::string(rules.client_id)}, .algorithms = rules.algorithms};
  std::variant<Token, TokenFault> verified = verify_token(text, keys, general, unix_now);
  if (const auto* fault = std::get_if<TokenFault>(&verified)) return login_fault(*fault);
  auto& token = std::get<Token>(verified);
  if (const std::optional<LoginFault> fault = claim_fault(token, rules)) return *fault;
  return std::move(token);
}

std::optional<Json> readable_access_token(std::string_view text, const KeySet& keys, const IdTokenRules& rules,
                                          std::int64_t unix_now) {
  const TokenRules general{.issuer = std::string(rules.issuer), .audience = {}, .algorithms = rules.algorithms};
  std::variant<Token, TokenFault> verified = verify_token(text, keys, general, unix_now);
  auto* const token = std::get_if<Token>(&verified);
  if (token == nullptr) return std::nullopt;
  const std::optional<std::string_view> subject = token->claims.text_of("sub");
  // Keycloak says `azp`, RFC 9068 `client_id`.
  const Json* const party =
      token->claims.find("azp") != nullptr ? token->claims.find("azp") : token->claims.find("client_id");
  const bool ours = party != nullptr && party->text() == rules.client_id && subject && *subject == rules.subject;
  if (!ours) return std::nullopt;
  return std::move(token->claims);
}

}  // namespace edge::runtime::auth
