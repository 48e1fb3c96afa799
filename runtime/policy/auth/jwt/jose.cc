#include "runtime/policy/auth/jwt/jose.h"

#include <optional>
#include <utility>

#include "base/text/base64.h"

namespace edge::runtime::auth {
namespace {

/// Of keys without an id, or of one id: an issuer has one that is current and one that was, or will be.
constexpr std::size_t kMostTried = 4;

/// Cut at the dots; false unless there are two.
bool cut(std::string_view token, std::string_view& header, std::string_view& payload, std::string_view& signature) {
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return false;
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) return false;
  header = token.substr(0, first);
  payload = token.substr(first + 1, second - first - 1);
  signature = token.substr(second + 1);
  return true;
}

TokenFault read_header(std::string_view text, Jws& out) {
  const Result<Json> header =
      read_json(text, {.bytes = kMaxTokenHeaderBytes, .depth = 6, .values = 128, .members = 32});
  if (!header || !header->is_object()) return TokenFault::kMalformed;
  // RFC 7515 §4.1.11. No extension is known here, and an empty list is not allowed; so is `b64` of RFC 7797 refused.
  if (header->find("crit") != nullptr) return TokenFault::kCritical;
  const auto algorithm = header->text_of("alg");
  if (!algorithm) return TokenFault::kMalformed;
  const auto known = algorithm_named(*algorithm);
  if (!known) return TokenFault::kAlgorithm;
  out.algorithm = *known;
  if (const Json* id = header->find("kid")) {
    const auto name = id->text();
    if (!name) return TokenFault::kMalformed;
    out.key_id = *name;
  }
  return TokenFault::kNone;
}

/// Those whose id is `id`; all of them without one. kUnknownKey: none of them fits.
TokenFault try_keys(const Jws& jws, const KeySet& keys, std::optional<std::string_view> id) {
  std::size_t tried = 0;
  for (const Key& key : keys.keys) {
    if ((id && key.id() != *id) || !key.fits(jws.algorithm)) continue;
    if (key.verify(jws.algorithm, jws.signed_text, jws.signature)) return TokenFault::kNone;
    if (++tried == kMostTried) break;
  }
  return tried == 0 ? TokenFault::kUnknownKey : TokenFault::kSignature;
}

}  // namespace

std::string_view fault_text(TokenFault fault) {
  switch (fault) {
    case TokenFault::kNone:
      return "The token is good.";
    case TokenFault::kTooLarge:
      return "The token is too large.";
    case TokenFault::kMalformed:
      return "The token is malformed.";
    case TokenFault::kAlgorithm:
      return "The algorithm of the token is not allowed.";
    case TokenFault::kCritical:
      return "The token needs an extension that is not known.";
    case TokenFault::kUnknownKey:
      return "The key of the token is not known.";
    case TokenFault::kSignature:
      return "The signature of the token is wrong.";
    case TokenFault::kClaims:
      return "The claims of the token are malformed.";
    case TokenFault::kIssuer:
      return "The token is of another issuer.";
    case TokenFault::kAudience:
      return "The token is for another audience.";
    case TokenFault::kNoExpiry:
      return "The token never expires.";
    case TokenFault::kExpired:
      return "The token has expired.";
    case TokenFault::kNotYet:
      return "The token is not valid yet.";
  }
  return "The token is not good.";
}

TokenFault read_jws(std::string_view token, Jws& out) {
  if (token.size() > kMaxTokenBytes) return TokenFault::kTooLarge;
  std::string_view header;
  std::string_view payload;
  std::string_view signature;
  if (!cut(token, header, payload, signature)) return TokenFault::kMalformed;
  const auto header_text = from_base64url(header);
  if (!header_text) return TokenFault::kMalformed;
  if (const TokenFault fault = read_header(*header_text, out); fault != TokenFault::kNone) return fault;
  auto payload_bytes = from_base64url(payload);
  auto signature_bytes = from_base64url(signature);
  if (!payload_bytes || !signature_bytes || signature_bytes->empty()) return TokenFault::kMalformed;
  out.signed_text = token.substr(0, header.size() + 1 + payload.size());
  out.payload = *std::move(payload_bytes);
  out.signature = *std::move(signature_bytes);
  return TokenFault::kNone;
}

TokenFault verify_jws(const Jws& jws, const KeySet& keys, AlgorithmSet allowed) {
  if (!allowed.has(jws.algorithm)) return TokenFault::kAlgorithm;
  if (jws.key_id.empty()) return try_keys(jws, keys, std::nullopt);
  const TokenFault of_id = try_keys(jws, keys, jws.key_id);
  if (of_id != TokenFault::kUnknownKey) return of_id;
  // A set whose one key has no id is of an issuer that never changes it; its tokens may carry one all the same.
  return try_keys(jws, keys, std::string_view());
}

}  // namespace edge::runtime::auth
