// A policy with references resolved and defaults filled in. Part of LinkedConfig.
//
// Values of secrets are not included: an agent finds them by name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ip.h"
#include "base/source.h"
#include "compiler/link/identity.h"
#include "compiler/link/policies/request_settings.h"
#include "program/format/policies.h"

namespace edge::compiler {

/// In the order of evaluation: addresses, maintenance, rate and concurrency limits, authentication (local checks before
/// calls of a service), fixed response, CORS, security headers, error pages (rule D4).
enum class PolicyType : std::uint8_t {
  kUnknown,  ///< the policy's type is unreadable; it denies
  kIpAccess,
  kMaintenance,
  kRateLimit,
  kConcurrencyLimit,
  kRequestFilter,
  kClientCertificate,
  kBasicAuth,
  kApiKey,
  kJwt,
  kOidc,
  kForwardAuth,
  kFixedResponse,
  kCors,
  kSecurityHeaders,
  kErrorPages,
};

program::PolicyType program_type(PolicyType type);
/// As in `spec.type`; "?" when unknown.
std::string_view type_text(PolicyType type);
/// Returns whether requests must not pass while the policy cannot be applied.
constexpr bool protects(PolicyType type) {
  return type != PolicyType::kCors && type != PolicyType::kSecurityHeaders && type != PolicyType::kErrorPages;
}

/// One value of a secret, by name.
struct SecretKey {
  std::string name_space{};
  std::string name{};
  std::string key{};
};

/// Where clients' addresses may be found.
struct AddressSources {
  std::vector<Cidr> networks{};
  std::vector<SecretKey> lists{};        ///< values of ConfigMaps
  std::vector<std::string> files{};      ///< names of lists that agents have in files
  std::vector<std::string> countries{};  ///< ISO 3166-1 alpha-2
  std::vector<std::uint32_t> systems{};  ///< numbers of autonomous systems
};

struct IpAccessSettings {
  AddressSources allow{};  ///< empty: every address
  AddressSources deny{};   ///< takes precedence over `allow`
};

/// The key that requests are counted by.
enum class RateKey : std::uint8_t { kSourceIp, kHeader, kCookie, kQuery, kJwtClaim, kHost, kPath, kIdentity };

/// One part of what requests are counted by.
struct RateKeyPart {
  RateKey key = RateKey::kSourceIp;
  std::string name{};  ///< header (lower case), cookie, query parameter or claim; requests without it share one value
};

struct RateLimitRule {
  std::uint64_t requests = 0;
  std::chrono::nanoseconds period{std::chrono::seconds(1)};
  std::uint64_t burst = 0;
  std::vector<RateKeyPart> keys{};  ///< at least one
};

/// A request has to be within all limits.
struct RateLimitSettings {
  std::vector<RateLimitRule> limits{};
  bool shared = false;  ///< by the agents of a controller
};

struct ConcurrencyRule {
  std::uint32_t requests = 0;
  std::vector<RateKeyPart> keys{};  ///< at least one
};

/// A request has to be within all limits.
struct ConcurrencySettings {
  std::vector<ConcurrencyRule> limits{};
  std::uint32_t status = 0;
};

struct BasicAuthSettings {
  std::string realm{};
  SecretKey users{};
  bool strip_auth = false;
};

/// A claim that is sent to the backend in a header.
struct ClaimHeader {
  std::string claim{};
  std::string header{};         ///< lower case
  bool before_routing = false;  ///< what routes match as the header is the claim
};

/// An issuer of tokens, with its keys: those of a URL, of a text, or of a value of a Secret.
struct JwtIssuer {
  std::string issuer{};
  std::vector<std::string> audience{};    ///< accepted ones; empty: not checked
  std::vector<std::string> algorithms{};  ///< at least one
  std::string jwks_uri{};
  std::string jwks{};
  SecretKey secret{};
  bool shared = false;  ///< the value of `secret` is one that both sides have, for HMAC; else a JWK set
};

struct JwtSettings {
  std::vector<JwtIssuer> issuers{};  ///< at least one
  std::string header{};              ///< lower case
  std::string prefix{};              ///< removed from the header's value
  std::chrono::nanoseconds clock_skew{0};
  std::vector<ClaimHeader> claim_headers{};
};

struct ApiKeySettings {
  std::string header{};  ///< lower case; empty: not looked at
  std::string cookie{};  ///< empty: not looked at
  std::vector<SecretKey> keys{};
  std::string identity_header{};  ///< lower case
  bool strip_key = false;
};

struct OidcSettings {
  std::string issuer{};
  std::string client_id{};
  SecretKey client_secret{};   ///< key `client-secret`
  SecretKey session_secret{};  ///< key `session-secret`, 32 bytes
  std::string redirect_url{};
  std::vector<std::string> scopes{};           ///< including `openid`
  std::vector<std::string> forward_headers{};  ///< lower case
  std::vector<std::string> required_roles{};
  std::vector<std::string> required_groups{};
  bool require_all = false;  ///< all roles and groups; else any one of them
};

struct ForwardAuthSettings {
  std::string address{};
  std::vector<std::string> auth_headers{};      ///< lower case; empty: all of the request's
  std::vector<std::string> response_headers{};  ///< lower case; empty: none
  std::chrono::nanoseconds timeout{0};
  std::chrono::nanoseconds cache_ttl{0};  ///< 0: decisions are not cached
  std::string sign_in_url{};              ///< empty: the client gets 401 responses unchanged
  std::string sign_in_parameter{};        ///< empty where `sign_in_url` is
};

struct CorsSettings {
  std::vector<std::string> allow_origins{};  ///< as written: an origin, `*`, or one with a `*.` label
  std::vector<std::string> allow_methods{};
  std::vector<std::string> allow_headers{};   ///< lower case; `*` any
  std::vector<std::string> expose_headers{};  ///< lower case
  std::chrono::nanoseconds max_age{0};
  bool allow_credentials = false;
  bool credentials_for_everyone = false;  ///< also for the origins that only `*` allows
};

struct SecurityHeadersSettings {
  bool hsts = false;
  std::uint64_t hsts_max_age = 0;  ///< seconds
  bool hsts_include_sub_domains = false;
  bool hsts_preload = false;
  std::string x_frame_options{};  ///< empty: not sent
  bool no_sniff = false;          ///< X-Content-Type-Options: nosniff
  std::string referrer_policy{};  ///< empty: not sent
};

/// A body that the proxy sends.
struct Page {
  std::string content_type{};
  std::string body{};
};

struct HeaderValue {
  std::string name{};  ///< as written
  std::string value{};
};

struct MaintenanceSettings {
  bool enabled = true;
  std::uint64_t retry_after = 0;  ///< seconds; 0: Retry-After is not sent
  Page page{};                    ///< without a body: the proxy's own text
  std::vector<Cidr> except_addresses{};
  std::vector<HeaderValue> except_headers{};  ///< any of them; names in lower case
};

struct FixedResponseSettings {
  std::uint32_t status = 200;
  std::vector<HeaderValue> headers{};
  Page page{};
};

/// For statuses from `first` to `last`.
struct ErrorPage {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Page page{};
  bool backend_errors = false;  ///< also in place of the bodies of backends' answers
};
struct ErrorPagesSettings {
  std::vector<ErrorPage> pages{};  ///< the first that covers a status is sent: single statuses, then classes
};

/// std::monostate: the settings are invalid, or a secret is missing.
using PolicySettings = std::variant<std::monostate, IpAccessSettings, RateLimitSettings, BasicAuthSettings, JwtSettings,
                                    OidcSettings, ForwardAuthSettings, CorsSettings, SecurityHeadersSettings,
                                    ApiKeySettings, MaintenanceSettings, FixedResponseSettings, ErrorPagesSettings,
                                    ConcurrencySettings, ClientCertificateSettings, RequestFilterSettings>;

enum class PolicyTargetKind : std::uint8_t { kRoute, kGateway };

struct LinkedPolicy {
  Identity identity;
  PolicyType type = PolicyType::kUnknown;
  PolicySettings settings{};
  /// Of type JWT without settings: the headers that are claims before routing, in lower case.
  std::vector<std::string> salvaged_headers{};
  PolicyTargetKind target_kind = PolicyTargetKind::kRoute;
  /// Whether it can be applied as written. One that protects and is not enforced denies: requests to its target are
  /// answered 503.
  bool enforced = false;
  bool of_filter = false;        ///< of a route's rule
  bool named_by_filter = false;  ///< a ProxyPolicy that a filter of the rule names
  Span span{};                   ///< of spec.type
};

}  // namespace edge::compiler
