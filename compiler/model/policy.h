// ProxyPolicy as written: without defaults, references unresolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ip.h"
#include "compiler/model/answer_policies.h"
#include "compiler/model/metadata.h"
#include "compiler/model/request_policies.h"

namespace edge::compiler::model {

/// kUnknown: for an invalid policy with an unreadable type; it has no settings.
enum class PolicyType : std::uint8_t {
  kBasicAuth,
  kForwardAuth,
  kOidc,
  kJwt,
  kRateLimit,
  kCors,
  kSecurityHeaders,
  kIpAccess,
  kApiKey,
  kMaintenance,
  kFixedResponse,
  kErrorPages,
  kConcurrencyLimit,
  kClientCertificate,
  kRequestFilter,
  kUnknown,
};
/// kUnknown: for an invalid policy whose target's kind is unreadable; any target of the name is protected. kNone: it
/// names none, and applies to the rules whose filters name it.
enum class PolicyTarget : std::uint8_t { kRoute, kGateway, kUnknown, kNone };

struct BasicAuth {
  Maybe<std::string> realm{};
  Reference secret;
  /// In the Secret; ingress-nginx uses another one.
  std::string key = "htpasswd";
  Maybe<bool> strip_auth{};
};

struct ForwardAuth {
  Located<std::string> address;
  /// Replaces `address`: a ProxyBackend, or for translated policies a Service; its name is then `service:port`.
  std::optional<Reference> backend{};
  std::string backend_kind = "ProxyBackend";
  Maybe<std::string> path{};  ///< for requests to the backend
  /// For the filter ExternalAuth only: the service gets the request's own method and path, after `path`; only 200 lets
  /// it pass, and any other response is sent to the client.
  bool own_request = false;
  bool grpc = false;                    ///< for own_request: by Envoy's ext_authz protocol
  Maybe<std::int64_t> max_body_size{};  ///< for own_request: bodies are sent to the service too; 0: none
  Strings auth_headers{};
  Strings response_headers{};
  Maybe<std::chrono::nanoseconds> timeout{};
  Maybe<std::chrono::nanoseconds> cache_ttl{};
  Maybe<std::string> sign_in_url{};
  Maybe<std::string> sign_in_parameter{};
};

struct Oidc {
  Maybe<std::string> provider{};
  Located<std::string> issuer_url;
  Located<std::string> client_id;
  Reference client_secret;
  Located<std::string> redirect_url;
  Strings scopes{};
  Reference session_secret;
  Strings forward_headers{};
  Strings required_roles{};
  Strings required_groups{};
  Maybe<std::string> mode{};
};

struct ClaimHeader {
  std::string claim;
  std::string header;
  bool before_routing = false;
};

/// One of the four that have keys is set.
struct JwtIssuer {
  Located<std::string> issuer;
  Strings audience{};
  Maybe<std::string> jwks_uri{};
  Maybe<std::string> jwks{};
  std::optional<Reference> jwks_secret{};
  std::optional<Reference> secret{};
  Strings allowed_algorithms{};
  std::string field = "spec.jwt";  ///< where it is written
};

struct Jwt {
  std::vector<JwtIssuer> issuers{};  ///< at least one
  Maybe<std::string> header_name{};
  Maybe<std::string> header_prefix{};
  std::vector<ClaimHeader> claim_headers{};
};

/// One of several limits of a policy.
struct RateLimitRule {
  Located<std::int64_t> requests{};
  std::string per{};  ///< `Second`, `Minute`, `Hour`, `Day`
  Maybe<std::int64_t> burst{};
  Strings keys{};
};

struct ApiKey {
  Maybe<std::string> header{};
  Maybe<std::string> cookie{};
  std::vector<Reference> secrets{};
  Maybe<std::string> identity_header{};
  Maybe<bool> strip_key{};
};

struct RateLimit {
  std::int64_t requests_per_second = 0;
  Maybe<std::int64_t> burst{};
  Maybe<std::string> key{};
  std::vector<RateLimitRule> limits{};  ///< replace the rate and the burst where there are any
  Maybe<std::string> scope{};
};

struct ConcurrencyRule {
  std::int64_t requests = 0;
  Strings keys{};
};

/// How many requests may be in progress at once.
struct ConcurrencyLimit {
  std::vector<ConcurrencyRule> limits{};
  Maybe<std::int64_t> status{};
};

struct Cors {
  Strings allow_origins{};
  Strings allow_methods{};
  Strings allow_headers{};
  Strings expose_headers{};
  Maybe<std::chrono::nanoseconds> max_age{};
  Maybe<bool> allow_credentials{};
  /// Gateway API: credentials are also allowed for the origins of `*`, each by its own name.
  bool credentials_for_everyone = false;
};

struct SecurityHeaders {
  Maybe<bool> hsts{};
  Maybe<std::int64_t> hsts_max_age{};
  Maybe<bool> hsts_include_sub_domains{};
  Maybe<bool> hsts_preload{};
  Maybe<std::string> x_frame_options{};
  Maybe<bool> x_content_type_options{};
  Maybe<std::string> referrer_policy{};
};

/// A list of addresses: one of the two is set.
struct AddressList {
  std::optional<Reference> config_map{};
  Maybe<std::string> file{};  ///< among those of the agents
};

/// Access by the client's address.
struct IpAccess {
  std::vector<Located<Cidr>> allow{};
  std::vector<Located<Cidr>> deny{};
  std::vector<AddressList> allow_lists{};
  std::vector<AddressList> deny_lists{};
  Strings allow_countries{};
  Strings deny_countries{};
  std::vector<Located<std::int64_t>> allow_systems{};
  std::vector<Located<std::int64_t>> deny_systems{};
};

/// A policy on one target. A ProxyPolicy with several becomes one of these for each, with the number of the target at
/// the end of its name (`limit`, `limit:1`), and translation one for each route of an Ingress (`limit:1@shop.example`):
/// no resource of Kubernetes has such a name.
struct ProxyPolicy {
  Metadata metadata;
  Located<PolicyType> type;
  PolicyTarget target_kind = PolicyTarget::kRoute;
  /// Kind of the target where it is not a kind of the product, such as HTTPRoute or Ingress.
  std::string target_resource{};
  Reference target;
  /// The listener of the gateway, or the rule of the route, that it applies to; nothing: all of the target.
  Maybe<std::string> section{};
  std::string target_field = "spec.targetRef";
  std::uint32_t target_number = 0;  ///< index in spec.targetRefs
  /// The only rule of the target that it applies to, by number; only for one that a filter asks for.
  std::optional<std::uint32_t> target_rule{};
  /// With `target_rule`: a ProxyPolicy that a filter of the rule names (ExtensionRef).
  bool named_by_filter = false;
  /// Its settings; std::monostate when they are invalid: the policy then protects its target by denying everything.
  std::variant<std::monostate, BasicAuth, ForwardAuth, Oidc, Jwt, RateLimit, Cors, SecurityHeaders, IpAccess, ApiKey,
               Maintenance, FixedResponse, ErrorPages, ConcurrencyLimit, ClientCertificate, RequestFilter>
      settings{};
  /// Of type JWT with invalid settings: the headers that are claims before routing, as far as they can be read.
  std::vector<std::string> salvaged_headers{};

  /// The resource that it was made of, as people know it.
  std::string text() const;
};

/// The name of a ProxyPolicy as it applies to one rule of a route whose filter names it: `limit@HTTPRoute:web:2`.
std::string filter_policy_name(const std::string& policy, const Metadata& route, std::uint32_t rule);
/// `Kind namespace/name` of that route, from `ProxyPolicy namespace/limit@HTTPRoute:web:2`; nullopt for another policy.
std::optional<std::string> route_of_filter_policy(const std::string& policy);

/// `Kind namespace/name` of the resource that a policy or route of this name was made of.
std::string origin_text(const std::string& made);

}  // namespace edge::compiler::model
