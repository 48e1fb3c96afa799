#include "runtime/policy/auth/oidc/oidc_discovery.h"

#include <algorithm>
#include <utility>

#include "base/ip.h"
#include "runtime/policy/auth/json.h"

namespace edge::runtime::auth {
namespace {

using net::client::Url;

constexpr std::string_view kDocumentPath = "/.well-known/openid-configuration";
constexpr JsonBounds kDocumentBounds{.bytes = std::size_t{64} << 10, .depth = 8, .values = 4096, .members = 256};
/// What a public key can check. With `none` and HMAC whoever knows the client could write tokens.
constexpr std::string_view kAlgorithms[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                            "PS512", "ES256", "ES384", "ES512", "EdDSA"};
/// Of a provider that names none (§3: it must support this one).
constexpr std::string_view kUsualAlgorithm = "RS256";

bool on_this_machine(const Url& url) {
  // RFC 6761 §6.3; what only begins like an address may be anybody's name.
  if (url.host == "localhost") return true;
  const std::optional<IpAddress> address = parse_ip(url.host);
  return address && (*address == parse_ip("::1") || (address->is_v4() && address->bytes[12] == 127));
}

Error fault(std::string text) { return {ErrorCode::kFailedPrecondition, std::move(text)}; }

bool lists(const Json* list, std::string_view text) {
  return list != nullptr && std::ranges::any_of(list->items(), [&](const Json& item) { return item.text() == text; });
}

/// Reads endpoints one after the other, and records the first error.
class Endpoints {
 public:
  Endpoints(const Json& document, bool https) : document_(document), https_(https) {}

  std::optional<Url> optional(std::string_view name) {
    const Json* const member = document_.find(name);
    return member == nullptr ? std::nullopt : read(name, member->text());
  }
  Url needed(std::string_view name) {
    std::optional<Url> url = read(name, document_.text_of(name));
    return url ? *std::move(url) : Url{};
  }
  const std::string& fault() const { return fault_; }

 private:
  std::optional<Url> read(std::string_view name, std::optional<std::string_view> text) {
    if (!text) return fail(name, " is missing");
    Result<Url> url = net::client::parse_url(*text);
    if (!url.ok()) return fail(name, " is no URL of http or https");
    // A provider that is itself on this machine may be asked without TLS, and may name nothing that is elsewhere.
    if (!url->secure && (https_ || !on_this_machine(*url))) return fail(name, " is not https");
    return std::move(*url);
  }
  std::optional<Url> fail(std::string_view name, std::string_view what) {
    if (fault_.empty()) fault_.append("`").append(name).append("`").append(what);
    return std::nullopt;
  }

  const Json& document_;
  bool https_;
  std::string fault_;
};

std::string whole_text(const Url& url) { return url.origin() + url.target; }

Result<ClientAuthentication> authentication_of(const Json& document) {
  const Json* const methods = document.find("token_endpoint_auth_methods_supported");
  // The default where none is named.
  if (methods == nullptr || lists(methods, "client_secret_basic")) return ClientAuthentication::kBasic;
  if (lists(methods, "client_secret_post")) return ClientAuthentication::kPost;
  return fault("the provider takes neither client_secret_basic nor client_secret_post");
}

std::vector<std::string> algorithms_of(const Json& document) {
  const Json* const named = document.find("id_token_signing_alg_values_supported");
  if (named == nullptr) return {std::string(kUsualAlgorithm)};
  std::vector<std::string> known;
  for (const std::string_view algorithm : kAlgorithms) {
    if (lists(named, algorithm)) known.emplace_back(algorithm);
  }
  return known;
}

}  // namespace

Result<Url> discovery_url(std::string_view issuer) {
  // §4.1: a slash at the end of the issuer is not doubled.
  std::string text(issuer);
  if (text.ends_with('/')) text.pop_back();
  Result<Url> url = net::client::parse_url(text + std::string(kDocumentPath));
  if (!url.ok() || issuer.find_first_of("?#") != std::string_view::npos) return fault("the issuer is no URL of https");
  if (!url->secure && !on_this_machine(*url)) return fault("the issuer is not https");
  return url;
}

Result<OidcProvider> read_discovery(std::string_view document, std::string_view issuer) {
  const Result<Url> own = discovery_url(issuer);
  if (!own.ok()) return own.error();
  const Result<Json> read = read_json(document, kDocumentBounds);
  if (!read.ok()) return read.error();
  const Json& json = *read;
  // Else one provider could speak for another (§4.3).
  if (json.text_of("issuer") != issuer) return fault("the document is about another issuer");
  // Where nothing is said of PKCE it is used all the same: who does not know the parameters ignores them (RFC 6749
  // §3.1).
  const Json* const challenges = json.find("code_challenge_methods_supported");
  if (challenges != nullptr && !lists(challenges, "S256")) return fault("the provider does not take PKCE with S256");

  Endpoints endpoints(json, own->secure);
  OidcProvider provider;
  provider.issuer = issuer;
  provider.authorization_endpoint = whole_text(endpoints.needed("authorization_endpoint"));
  provider.token_endpoint = endpoints.needed("token_endpoint");
  provider.jwks_uri = endpoints.needed("jwks_uri");
  provider.userinfo_endpoint = endpoints.optional("userinfo_endpoint");
  if (const auto end = endpoints.optional("end_session_endpoint")) provider.end_session_endpoint = whole_text(*end);
  if (!endpoints.fault().empty()) return fault(endpoints.fault());
  const Result<ClientAuthentication> authentication = authentication_of(json);
  if (!authentication.ok()) return authentication.error();
  provider.authentication = *authentication;
  provider.algorithms = algorithms_of(json);
  if (provider.algorithms.empty()) return fault("id tokens are signed by no algorithm with a public key");
  provider.issuer_in_answers = [&] {
    const Json* const promised = json.find("authorization_response_iss_parameter_supported");
    return promised != nullptr && promised->boolean() == true;
  }();
  return provider;
}

}  // namespace edge::runtime::auth
