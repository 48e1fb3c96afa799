// Program format (format.h): the policies section. Each type has its own records, so that the settings of one type are
// contiguous. Times are nanoseconds.
#pragma once

#include <cstdint>

#include "program/format/answers.h"
#include "program/format/file.h"
#include "program/format/request_policies.h"

namespace edge::program {

/// Treatments list their policies in the order of evaluation (rule D4), which is not that of the numbers.
enum class PolicyType : std::uint32_t {
  kUnknown = 0,  ///< with an unreadable type
  kIpAccess = 1,
  kRateLimit = 2,
  kBasicAuth = 3,
  kApiKey = 4,
  kJwt = 5,
  kOidc = 6,
  kForwardAuth = 7,
  kCors = 8,
  kSecurityHeaders = 9,
  kConcurrencyLimit = 10,
  kMaintenance = 11,
  kFixedResponse = 12,
  kErrorPages = 13,
  kClientCertificate = 14,
  kRequestFilter = 15,
};

/// Entries ascend by id. Whether requests are denied because a policy cannot be enforced is stored in the treatment
/// (kDenied), so that no lookup can miss it.
struct PolicyRecord {
  std::uint64_t id;  ///< stable_id("ProxyPolicy", namespace, name)
  StringRef name_space;
  StringRef name;
  PolicyType type;
  std::uint32_t settings;  ///< index into the header's array of the type; kNone: unreadable
};
static_assert(sizeof(PolicyRecord) == 32);

/// Where clients' addresses may be found; all in any order.
struct AddressSourcesRecord {
  ArrayRef<CidrRecord> networks;
  ArrayRef<SecretRecord> lists;     ///< values (program/values/address_list.h)
  ArrayRef<StringRef> files;        ///< names of lists among the agent's files
  ArrayRef<StringRef> countries;    ///< two capital letters each
  ArrayRef<std::uint32_t> systems;  ///< numbers of autonomous systems, not 0
};
static_assert(sizeof(AddressSourcesRecord) == 40);

/// Access by clients' addresses.
struct IpAccessRecord {
  AddressSourcesRecord allow;  ///< empty: every address
  AddressSourcesRecord deny;   ///< takes precedence over `allow`
};
static_assert(sizeof(IpAccessRecord) == 80);

enum class RateKey : std::uint32_t {
  kSourceIp = 1,
  kHeader = 2,
  kCookie = 3,
  kQuery = 4,
  kJwtClaim = 5,
  kHost = 6,
  kPath = 7,
  kIdentity = 8,  ///< whom an authentication policy has found
};

struct RateKeyRecord {
  RateKey key;
  StringRef name;  ///< header (lower case), cookie, query key or claim; requests without it share one value
};
static_assert(sizeof(RateKeyRecord) == 12);

struct RateRecord {
  std::uint64_t requests;  ///< in a period
  std::uint64_t period_ns;
  std::uint64_t burst;
  ArrayRef<RateKeyRecord> keys;  ///< at least one; each combination of values has its own bucket
};
static_assert(sizeof(RateRecord) == 32);

/// Limits that a request must all be within; at least one.
struct RateLimitRecord {
  ArrayRef<RateRecord> limits;
  std::uint32_t shared;  ///< 1: the agents of a controller count together, 0: each for itself
  std::uint32_t reserved;
};
static_assert(sizeof(RateLimitRecord) == 16);

struct ConcurrencyRecord {
  ArrayRef<RateKeyRecord> keys;  ///< at least one; each combination of values has its own count
  std::uint32_t requests;        ///< in progress at once
  std::uint32_t reserved;
};
static_assert(sizeof(ConcurrencyRecord) == 16);

/// Limits that a request must all be within; at least one.
struct ConcurrencyLimitRecord {
  ArrayRef<ConcurrencyRecord> limits;
  std::uint32_t status;  ///< of a refusal: 429 or 503
  std::uint32_t reserved;
};
static_assert(sizeof(ConcurrencyLimitRecord) == 16);

struct BasicAuthRecord {
  StringRef realm;
  SecretRecord users;
  std::uint32_t strip_auth;  ///< 1: the credentials are removed for the backend
};
static_assert(sizeof(BasicAuthRecord) == 36);

/// A claim that is sent to the backend in a header.
struct ClaimHeaderRecord {
  StringRef claim;   ///< a name, or names separated by dots: a path into nested claims
  StringRef header;  ///< lower case
};
static_assert(sizeof(ClaimHeaderRecord) == 16);

/// Where the keys of an issuer are.
enum class JwtKeys : std::uint32_t {
  kUri = 1,     ///< `source` is the URL of a JWK set
  kInline = 2,  ///< `source` is a JWK set
  kSecret = 3,  ///< the value of `secret` is a JWK set
  kShared = 4,  ///< the value of `secret` is the issuer's own secret, for HMAC alone
};

struct JwtIssuerRecord {
  StringRef issuer;
  ArrayRef<StringRef> audience;  ///< accepted ones; empty: not checked
  ArrayRef<StringRef> algorithms;
  JwtKeys keys;
  StringRef source;
  SecretRecord secret;
};
static_assert(sizeof(JwtIssuerRecord) == 60);

struct JwtRecord {
  std::uint64_t clock_skew_ns;
  StringRef header;  ///< lower case
  StringRef prefix;  ///< removed from the header's value
  ArrayRef<JwtIssuerRecord> issuers;
  ArrayRef<ClaimHeaderRecord> claim_headers;
};
static_assert(sizeof(JwtRecord) == 40);

struct ApiKeyRecord {
  StringRef header;  ///< lower case; empty: not looked at
  StringRef cookie;  ///< empty: not looked at
  StringRef identity_header;
  ArrayRef<SecretRecord> keys;
  std::uint32_t strip_key;  ///< 1: the key is removed for the backend
};
static_assert(sizeof(ApiKeyRecord) == 36);

struct OidcRecord {
  StringRef issuer;
  StringRef client_id;
  StringRef redirect_url;
  SecretRecord client_secret;
  SecretRecord session_secret;
  ArrayRef<StringRef> scopes;
  ArrayRef<StringRef> forward_headers;  ///< lower case
  ArrayRef<StringRef> required_roles;
  ArrayRef<StringRef> required_groups;
  std::uint32_t require_all;  ///< 1: all roles and groups, else any one of them
};
static_assert(sizeof(OidcRecord) == 108);

struct ForwardAuthRecord {
  std::uint64_t timeout_ns;
  std::uint64_t cache_ttl_ns;            ///< 0: decisions are not cached
  StringRef address;                     ///< a URL, or a backend of the program (program/forward_auth.h)
  ArrayRef<StringRef> auth_headers;      ///< lower case, or kOwnRequest; empty: all of the request's
  ArrayRef<StringRef> response_headers;  ///< lower case, or kAllFields; empty: none
  StringRef sign_in_url;                 ///< empty: the client gets 401 responses unchanged
  StringRef sign_in_parameter;
};
static_assert(sizeof(ForwardAuthRecord) == 56);

/// The origins to which browsers may send credentials.
enum class CorsCredentials : std::uint32_t {
  kNone = 0,
  kListed = 1,    ///< those allowed by name or pattern
  kEveryone = 2,  ///< also those that only `*` allows: as in Gateway API
};

struct CorsRecord {
  std::uint64_t max_age_ns;
  ArrayRef<StringRef> allow_origins;  ///< an origin, `*`, or one with a `*.` label
  ArrayRef<StringRef> allow_methods;
  ArrayRef<StringRef> allow_headers;   ///< lower case; `*` any
  ArrayRef<StringRef> expose_headers;  ///< lower case
  std::uint32_t allow_credentials;     ///< CorsCredentials
  std::uint32_t reserved;
};
static_assert(sizeof(CorsRecord) == 48);

enum SecurityHeadersFlags : std::uint32_t {
  kHsts = 1,
  kHstsIncludeSubDomains = 2,
  kHstsPreload = 4,
  kNoSniff = 8,
};

struct SecurityHeadersRecord {
  std::uint64_t hsts_max_age_s;
  StringRef x_frame_options;  ///< empty: not sent
  StringRef referrer_policy;  ///< empty: not sent
  std::uint32_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(SecurityHeadersRecord) == 32);

struct PoliciesHeader {
  ArrayRef<PolicyRecord> policies;
  ArrayRef<RateLimitRecord> rate_limits;
  ArrayRef<BasicAuthRecord> basic_auths;
  ArrayRef<JwtRecord> jwts;
  ArrayRef<OidcRecord> oidcs;
  ArrayRef<ForwardAuthRecord> forward_auths;
  ArrayRef<CorsRecord> cors;
  ArrayRef<SecurityHeadersRecord> security_headers;
  ArrayRef<IpAccessRecord> ip_accesses;
  ArrayRef<ApiKeyRecord> api_keys;
  ArrayRef<MaintenanceRecord> maintenances;
  ArrayRef<FixedResponseRecord> fixed_responses;
  ArrayRef<ErrorPagesRecord> error_pages;
  ArrayRef<NoRouteRecord> no_routes;  ///< of listeners with policies
  ArrayRef<ConcurrencyLimitRecord> concurrency_limits;
  ArrayRef<ClientCertificateRecord> client_certificates;
  ArrayRef<RequestFilterRecord> request_filters;
  ArrayRef<ListenerClaimsRecord> listener_claims;
};
static_assert(sizeof(PoliciesHeader) == 144);

}  // namespace edge::program
