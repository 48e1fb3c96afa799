// ProxyPolicy as written: no default is filled in, no reference resolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ip.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

/// kUnknown: of a policy at fault whose type cannot be told; no settings go with it.
enum class PolicyType : std::uint8_t {
  kBasicAuth,
  kForwardAuth,
  kOidc,
  kJwt,
  kRateLimit,
  kCors,
  kSecurityHeaders,
  kIpAccess,
  kUnknown,
};
/// kUnknown: of a policy at fault whose target's kind cannot be told; whatever bears the name is protected.
enum class PolicyTarget : std::uint8_t { kRoute, kGateway, kUnknown };

using Strings = std::vector<Located<std::string>>;

struct BasicAuth {
  Maybe<std::string> realm{};
  Reference secret;
  /// Of the Secret; ingress-nginx has another one.
  std::string key = "htpasswd";
  Maybe<bool> strip_auth{};
};

struct ForwardAuth {
  Located<std::string> address;
  /// In place of `address`: a ProxyBackend, or of translated policies a Service; its name is then `service:port`.
  std::optional<Reference> backend{};
  std::string backend_kind = "ProxyBackend";
  Maybe<std::string> path{};  ///< of what the backend is asked for
  /// Of the filter ExternalAuth alone: the service is sent the request's own method and path, behind `path`, 200 alone
  /// lets it pass, and any other answer is the client's.
  bool own_request = false;
  bool grpc = false;                    ///< of own_request: by Envoy's ext_authz protocol
  Maybe<std::int64_t> max_body_size{};  ///< of own_request: the service is sent bodies too; 0: none
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
};

struct Jwt {
  Located<std::string> issuer;
  Strings audience{};
  Located<std::string> jwks_uri;
  Maybe<std::string> header_name{};
  Maybe<std::string> header_prefix{};
  Strings allowed_algorithms{};
  std::vector<ClaimHeader> claim_headers{};
};

struct RateLimit {
  std::int64_t requests_per_second = 0;
  Maybe<std::int64_t> burst{};
  Maybe<std::string> key{};
};

struct Cors {
  Strings allow_origins{};
  Strings allow_methods{};
  Strings allow_headers{};
  Strings expose_headers{};
  Maybe<std::chrono::nanoseconds> max_age{};
  Maybe<bool> allow_credentials{};
  /// Gateway API: the origins of `*` may send them, too, each by its own name.
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

/// By the client's address.
struct IpAccess {
  std::vector<Located<Cidr>> allow{};
  std::vector<Located<Cidr>> deny{};
};

struct ProxyPolicy {
  Metadata metadata;
  Located<PolicyType> type;
  PolicyTarget target_kind = PolicyTarget::kRoute;
  /// Kind of the target where it is not the own one: policies that were translated hold for HTTPRoutes and Ingresses.
  std::string target_resource{};
  Reference target;
  /// The rule of the target, by number, for which alone it holds; only of a policy that a filter was translated to.
  std::optional<std::uint32_t> target_rule{};
  /// Its settings; nothing when they are at fault: then the policy still protects its target, by refusing everything.
  std::variant<std::monostate, BasicAuth, ForwardAuth, Oidc, Jwt, RateLimit, Cors, SecurityHeaders, IpAccess>
      settings{};
};

}  // namespace edge::compiler::model
