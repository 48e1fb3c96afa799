#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kTypes[] = {
    "BasicAuth",        "ForwardAuth",       "OIDC",         "JWT",         "RateLimit",     "CORS",
    "SecurityHeaders",  "IPAccess",          "APIKey",       "Maintenance", "FixedResponse", "ErrorPages",
    "ConcurrencyLimit", "ClientCertificate", "RequestFilter"};
constexpr std::string_view kTargets[] = {"ProxyRoute", "ProxyGateway", "HTTPRoute", "GRPCRoute", "TLSRoute",
                                         "TCPRoute",   "UDPRoute",     "Gateway",   "Ingress"};
constexpr std::string_view kTargetGroups[] = {kApiGroup, "gateway.networking.k8s.io", "networking.k8s.io"};
constexpr std::string_view kProviders[] = {"generic"};
constexpr std::string_view kModes[] = {"any", "all"};
constexpr std::string_view kAlgorithms[] = {"RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256",
                                            "PS384", "PS512", "EdDSA", "HS256", "HS384", "HS512"};

constexpr Field kTargetFields[] = {
    string("kind", "Kind of the target.").one_of(kTargets).needed(),
    string("name", "Name of the target.").as(Format::kName).needed(),
    string("namespace", "Namespace of the target.").as(Format::kNamespace),
    string("group", "Group of the target's kind; found by the kind without it.").one_of(kTargetGroups),
    string("sectionName", "One listener of a gateway, or one rule of a route, by name; all of the target without it.")
        .as(Format::kName),
};
constexpr Object kTarget{kTargetFields};

constexpr Field kBasicFields[] = {
    string("realm", "Realm of the challenge.").as(Format::kHeaderValue).defaults_to("Restricted"),
    object("secretRef", kSecretRef, "Secret with the key htpasswd.").needed(),
    boolean("stripAuth", "Whether Authorization is kept from the backend.").defaults_to("false"),
};
constexpr Object kBasic{kBasicFields};

constexpr Field kForwardBackendFields[] = {
    string("name", "Name of the ProxyBackend.").as(Format::kName).needed(),
    string("namespace", "Namespace of the ProxyBackend; the own without it.").as(Format::kNamespace),
};
constexpr Object kForwardBackend{kForwardBackendFields};
constexpr Field kForwardFields[] = {
    string("address", "URL of the service that decides. This or `backendRef` is required.").as(Format::kUrl),
    object("backendRef", kForwardBackend, "The service as a backend: its endpoints are called, with their health."),
    // No default that a cluster's server would fill in beside `address`.
    string("path", "What a service given by `backendRef` is asked for; `/` without it.").as(Format::kPath),
    strings("authHeaders", "Headers that it sees; all without it.").as(Format::kHeaderName),
    strings("responseHeaders", "Headers of its answer that the backend sees.").as(Format::kHeaderName),
    string("timeout", "Time for its answer.").as(Format::kDuration).defaults_to("5s"),
    string("cacheTTL", "How long an answer holds; none: not kept.").as(Format::kDuration),
    string("signInURL", "Where a client is sent that the service answers 401; without it the client gets that answer.")
        .as(Format::kUrl),
    string("signInParameter", "Parameter of signInURL with the URL that was asked for.")
        .as(Format::kHeaderName)
        .defaults_to("rd"),
};
constexpr Object kForward{kForwardFields};

constexpr Field kAuthorizationFields[] = {
    strings("requiredRoles", "Roles.").narrowing(),
    strings("requiredGroups", "Groups.").narrowing(),
    string("mode", "Whether any or all of them are needed.").one_of(kModes).defaults_to("any"),
};
constexpr Object kAuthorization{kAuthorizationFields};

constexpr Field kOidcFields[] = {
    string("provider", "Kind of identity provider.").one_of(kProviders).defaults_to("generic"),
    string("issuerURL", "Issuer.").as(Format::kUrl).needed(),
    string("clientID", "Client id.").needed(),
    object("clientSecretRef", kSecretRef, "Secret with the key client-secret.").needed(),
    string("redirectURL", "Where the provider sends the user back to.").needed(),
    strings("scopes", "Scopes.").defaults_to("[openid, profile, email]"),
    object("sessionSecretRef", kSecretRef, "Secret with the key session-secret, 32 bytes.").needed(),
    strings("forwardHeaders", "Headers that the backend sees.").as(Format::kHeaderName),
    object("authorization", kAuthorization, "Roles and groups that are needed.").narrowing(),
};
constexpr Object kOidc{kOidcFields};

constexpr Field kClaimHeaderFields[] = {
    string("claim", "Name of the claim; with dots, the way to one inside others.").needed(),
    string("header", "Header that the backend sees it in.").as(Format::kHeaderName).needed(),
    boolean("beforeRouting",
            "Whether routes match the claim, too, as this header, whatever clients send under its name; of a policy of "
            "a gateway or listener.")
        .defaults_to("false"),
};
constexpr Object kClaimHeader{kClaimHeaderFields};

// Of an issuer: of the one that the policy itself names, and of each of several.
constexpr Field kJwtIssuer = string("issuer", "Issuer: the claim iss of its tokens.");
constexpr Field kJwtAudience = strings("audience", "Audiences of which one is needed.").narrowing();
constexpr Field kJwksUri = string("jwksUri", "Where the issuer publishes its keys.").as(Format::kUrl);
constexpr Field kJwks = string("jwks", "The keys themselves: the text of a JWK set. In place of jwksUri.");
constexpr Field kJwksSecret = object("jwksSecretRef", kSecretRef, "Secret with the key jwks. In place of jwksUri.");
constexpr Field kJwtSecret = object(
    "secretRef", kSecretRef,
    "Secret with the key secret, that the issuer shares: for HS256, HS384 and HS512 alone. In place of jwksUri.");
constexpr Field kJwtAlgorithms =
    strings("allowedAlgorithms", "Signature algorithms that are taken.").one_of(kAlgorithms);
constexpr Field kJwtIssuerFields[] = {
    kJwtIssuer.needed(), kJwtAudience, kJwksUri, kJwks, kJwksSecret, kJwtSecret, kJwtAlgorithms.needed(),
};
constexpr Object kJwtIssuerObject{kJwtIssuerFields};

constexpr Field kJwtFields[] = {
    kJwtIssuer,
    kJwtAudience,
    kJwksUri,
    kJwks,
    kJwksSecret,
    kJwtSecret,
    objects(
        "issuers", kJwtIssuerObject,
        "Several issuers, in place of issuer and the fields beside it: a token is checked by the one that its claim "
        "iss names.")
        .at_most(32),
    string("headerName", "Header with the token.").as(Format::kHeaderName).defaults_to("Authorization"),
    string("headerPrefix", "What stands before the token.").defaults_to("Bearer "),
    kJwtAlgorithms,
    objects("claimToHeaders", kClaimHeader, "Claims that the backend is told; what clients send under the names goes.")
        .at_most(32),
};
constexpr Object kJwt{kJwtFields};

constexpr std::string_view kPeriods[] = {"Second", "Minute", "Hour", "Day"};
constexpr Field kRateLimitFields[] = {
    integer("requests", "Sustained rate: requests per `per`.").within(1, 1'000'000'000).needed(),
    string("per", "Unit of time of `requests`.").one_of(kPeriods).needed(),
    integer("burst", "Requests at once; `requests` without it.").within(1, 1'000'000'000),
    strings("keys",
            "What requests are counted by: each combination of values has a limit of its own. `key` without it.")
        .as(Format::kRateLimitKey)
        .at_most(4),
};
constexpr Object kRateLimit{kRateLimitFields};
constexpr Field kApiKeyFields[] = {
    string("header", "Header with the key. This or `cookie` is required.").as(Format::kHeaderName),
    string("cookie", "Cookie with the key, where the header is not sent.").as(Format::kHeaderName),
    objects("secretRefs", kSecretRef, "Secrets with the key api-keys: `name:key` a line.").at_most(16).needed(),
    string("identityHeader", "Header in which the backend is told whose key it is.")
        .as(Format::kHeaderName)
        .defaults_to("X-Auth-User"),
    boolean("stripKey", "Whether the key is kept from the backend.").defaults_to("true"),
};
constexpr Object kApiKey{kApiKeyFields};

constexpr Field kCertificateNamesFields[] = {
    strings("dnsNames", "DNS names (subject alternative names): a name, or `*.` before one for all below it.")
        .as(Format::kHostname)
        .at_most(256)
        .narrowing(),
    strings("uris", "URIs (subject alternative names), such as SPIFFE IDs, byte for byte.")
        .as(Format::kUri)
        .at_most(256)
        .narrowing(),
    strings("uriPrefixes", "Beginnings of such URIs, up to a `/` or `:`.")
        .as(Format::kUriPrefix)
        .at_most(256)
        .narrowing(),
    strings("emails", "Email addresses (subject alternative names).").as(Format::kEmail).at_most(256).narrowing(),
    strings("ipAddresses", "IP addresses (subject alternative names), or networks that they are of.")
        .as(Format::kCidr)
        .at_most(256)
        .narrowing(),
    strings("commonNames", "Common names of subjects; may pass by one only what has no subject alternative name.")
        .as(Format::kHeaderValue)
        .at_most(256)
        .narrowing(),
    strings("fingerprints", "SHA-256 of certificates (DER).").as(Format::kSha256).at_most(1024).narrowing(),
};
constexpr Object kCertificateNames{kCertificateNamesFields};
constexpr Field kClientCertificateFields[] = {
    object("allow", kCertificateNames, "Certificates that may pass: of any of these names. All that verify without it.")
        .narrowing(),
    object("deny", kCertificateNames, "Certificates that may not, also among those that may otherwise.").narrowing(),
    string("identityHeader", "Header in which the backend is told the certificate's name; not sent without it.")
        .as(Format::kHeaderName),
    boolean("forwardCertificate", "Whether the backend is sent X-Forwarded-Client-Cert.").defaults_to("false"),
};
constexpr Object kClientCertificate{kClientCertificateFields};

constexpr std::string_view kFilterActions[] = {"Deny", "Shadow"};
constexpr Field kHeaderPatternFields[] = {
    string("name", "Header whose values are searched; every header without it.").as(Format::kHeaderName),
    string("pattern", "What no value may contain.").as(Format::kPattern).needed(),
};
constexpr Object kHeaderPattern{kHeaderPatternFields};
constexpr Field kRequestFilterFields[] = {
    string("action", "Whether requests at fault are refused, or only counted.")
        .one_of(kFilterActions)
        .defaults_to("Deny"),
    integer("statusCode", "Status of requests that contain a pattern.").within(400, 499).defaults_to("403"),
    integer("maxHeaders", "Most header fields; else 431.").within(1, 1000).narrowing(),
    string("maxHeaderSize", "Most bytes of one header's name and value; else 431.").as(Format::kSize).narrowing(),
    string("maxHeadersSize", "Most bytes of all headers' names and values; else 431.").as(Format::kSize).narrowing(),
    string("maxBodySize", "Most bytes of a body, within the route's own limit; else 413.")
        .as(Format::kSize)
        .narrowing(),
    integer("maxQueryParameters", "Most parameters of the query; else 400.").within(0, 10'000).narrowing(),
    strings("methods", "Methods that may be used; else 405.").as(Format::kMethod).at_most(32).narrowing(),
    strings("contentTypes", "Media types of bodies that may be sent; else 415.")
        .as(Format::kMediaRange)
        .at_most(64)
        .narrowing(),
    strings("denyPaths", "What no path may contain.").as(Format::kPattern).at_most(64).narrowing(),
    strings("denyQueries", "What no query may contain.").as(Format::kPattern).at_most(64).narrowing(),
    objects("denyHeaders", kHeaderPattern, "What no header may contain.").at_most(64).narrowing(),
    strings("denyBodies", "What no body may contain, as it is sent, within its first `inspectedBodySize` bytes.")
        .as(Format::kPattern)
        .at_most(64)
        .narrowing(),
    string("inspectedBodySize", "Bytes of a body that are searched before any is forwarded; at most 128Ki.")
        .as(Format::kSize)
        .defaults_to("16Ki"),
};
constexpr Object kRequestFilter{kRequestFilterFields};

constexpr std::string_view kScopes[] = {"Local", "Cluster"};
constexpr Field kRateFields[] = {
    integer("requestsPerSecond", "Sustained rate. This or `limits` is required.").within(1, 1'000'000'000),
    integer("burst", "Requests at once; requestsPerSecond without it.").within(1, 1'000'000'000),
    string("key",
           "What requests are counted by: source-ip, header:NAME, cookie:NAME, query:NAME, jwt:CLAIM, identity, host, "
           "path.")
        .as(Format::kRateLimitKey)
        .defaults_to("source-ip"),
    objects("limits", kRateLimit, "Several limits in place of requestsPerSecond: a request has to be within all.")
        .at_most(8),
    string("scope", "Whether each agent counts for itself, or the agents of a controller share what has passed.")
        .one_of(kScopes)
        .defaults_to("Local"),
};
constexpr Rule kRateRules[] = {
    {"has(self.requestsPerSecond) != (has(self.limits) && size(self.limits) > 0)",
     "one of requestsPerSecond and limits is required"},
    {"!has(self.burst) || has(self.requestsPerSecond)", "burst goes with requestsPerSecond"},
};
constexpr Object kRate{.fields = kRateFields, .rules = kRateRules};

constexpr Field kConcurrencyLimitFields[] = {
    integer("requests", "How many requests may be in progress at once.").within(1, 1'000'000).needed(),
    strings("keys", "What requests are counted by: each combination of values has a limit of its own.")
        .as(Format::kRateLimitKey)
        .at_most(4)
        .defaults_to("[source-ip]"),
};
constexpr Object kConcurrencyLimit{kConcurrencyLimitFields};
constexpr Field kConcurrencyFields[] = {
    objects("limits", kConcurrencyLimit, "Limits: a request has to be within all.").at_most(8).needed(),
    integer("statusCode", "Status of the requests that are refused: 429 or 503.").within(429, 503).defaults_to("503"),
};
constexpr Rule kConcurrencyRules[] = {
    {"!has(self.statusCode) || self.statusCode == 429 || self.statusCode == 503", "statusCode is 429 or 503"},
    {"size(self.limits) > 0", "at least one limit is required"},
};
constexpr Object kConcurrency{.fields = kConcurrencyFields, .rules = kConcurrencyRules};

constexpr Field kCorsFields[] = {
    strings("allowOrigins", "Origins that may read answers."),
    strings("allowMethods", "Methods that they may use.").as(Format::kMethod).defaults_to("[GET, HEAD, POST]"),
    strings("allowHeaders", "Headers that they may send.").as(Format::kHeaderName),
    strings("exposeHeaders", "Headers that they may read.").as(Format::kHeaderName),
    string("maxAge", "How long a preflight answer holds.").as(Format::kDuration),
    boolean("allowCredentials", "Whether credentials are sent.").defaults_to("false"),
};
constexpr Object kCors{kCorsFields};

constexpr Field kHstsFields[] = {
    boolean("enabled", "Whether the header is sent.").defaults_to("false"),
    integer("maxAge", "Seconds.").within(0, kNoMaximum).defaults_to("31536000"),
    boolean("includeSubDomains", "Whether it covers subdomains.").defaults_to("false"),
    boolean("preload", "Whether it may be preloaded.").defaults_to("false"),
};
constexpr Object kHsts{kHstsFields};

constexpr Field kSecurityFields[] = {
    object("hsts", kHsts, "Strict-Transport-Security."),
    string("xFrameOptions", "X-Frame-Options.").as(Format::kHeaderValue),
    boolean("xContentTypeOptions", "Whether X-Content-Type-Options: nosniff is sent."),
    string("referrerPolicy", "Referrer-Policy.").as(Format::kHeaderValue),
};
constexpr Object kSecurity{kSecurityFields};

constexpr Field kListRefFields[] = {
    string("name", "Name of the ConfigMap.").as(Format::kName).needed(),
    string("namespace", "Namespace of the ConfigMap; the own without it.").as(Format::kNamespace),
};
constexpr Object kListRef{kListRefFields};
constexpr Field kAddressListFields[] = {
    object("configMapRef", kListRef, "ConfigMap with the key networks: an address or network a line."),
    string("file", "Name of a file in the agents' directory --address-lists.").as(Format::kName),
};
constexpr Rule kAddressListRules[] = {
    {"has(self.configMapRef) != has(self.file)", "one of configMapRef and file is required"},
};
constexpr Object kAddressList{.fields = kAddressListFields, .rules = kAddressListRules};

constexpr Field kAccessFields[] = {
    strings("allow", "Addresses of clients that may pass. All may where no field names any that may.")
        .as(Format::kCidr)
        .at_most(4096)
        .narrowing(),
    strings("deny", "Addresses that may not, also among those that may otherwise.")
        .as(Format::kCidr)
        .at_most(4096)
        .narrowing(),
    objects("allowLists", kAddressList, "Lists of addresses that may pass.").at_most(16).narrowing(),
    objects("denyLists", kAddressList, "Lists of addresses that may not.").at_most(16).narrowing(),
    strings("allowCountries", "Countries (ISO 3166-1, two letters) whose addresses may pass, by --geoip-country.")
        .as(Format::kCountry)
        .at_most(300)
        .narrowing(),
    strings("denyCountries", "Countries whose addresses may not.").as(Format::kCountry).at_most(300).narrowing(),
    integers("allowASNs", "Autonomous systems whose addresses may pass, by --geoip-asn.")
        .within(1, 4'294'967'295)
        .at_most(1024)
        .narrowing(),
    integers("denyASNs", "Autonomous systems whose addresses may not.")
        .within(1, 4'294'967'295)
        .at_most(1024)
        .narrowing(),
};
constexpr Object kAccess{kAccessFields};

constexpr Field kHeaderFields[] = {
    string("name", "Name of the header.").as(Format::kHeaderName).needed(),
    string("value", "Its value.").as(Format::kHeaderValue).needed(),
};
constexpr Object kHeader{kHeaderFields};

constexpr Field kExceptFields[] = {
    strings("addresses", "Addresses of clients.").as(Format::kCidr).at_most(1024),
    objects("headers", kHeader, "Headers of requests, each with its whole value.").at_most(16),
};
constexpr Object kExcept{kExceptFields};

constexpr Field kBodyField = string("body", "The body.").as(Format::kPage);
constexpr Field kBodyRefFields[] = {
    string("name", "Name of the ConfigMap.").as(Format::kName).needed(),
    string("namespace", "Namespace of the ConfigMap; the own without it.").as(Format::kNamespace),
    string("key", "Its key, of data or binaryData, that has the body; at most 64 KiB.")
        .as(Format::kHeaderValue)
        .needed(),
};
constexpr Object kBodyRef{kBodyRefFields};
constexpr Field kBodyRefField = object("configMapRef", kBodyRef, "The body, from a ConfigMap in place of body.");
constexpr Rule kOneBodyAtMost[] = {
    {"!(has(self.body) && has(self.configMapRef))", "body and configMapRef exclude each other"},
};
constexpr Rule kOneBody[] = {
    {"has(self.body) != has(self.configMapRef)", "one of body and configMapRef is required"},
};
constexpr Field kPageType =
    string("contentType", "Content-Type of the body.").as(Format::kHeaderValue).defaults_to("text/html; charset=utf-8");

constexpr Field kMaintenanceFields[] = {
    boolean("enabled", "Whether requests are answered 503; a narrower policy that says false exempts its target.")
        .defaults_to("true"),
    string("retryAfter", "Retry-After, in whole seconds; not sent without it.").as(Format::kDuration),
    kPageType,
    string("body", "Body of the answer; the proxy's usual text without it.").as(Format::kPage),
    kBodyRefField,
    object("except", kExcept, "Requests that pass: of one of the addresses, or with one of the headers."),
};
constexpr Object kMaintenance{.fields = kMaintenanceFields, .rules = kOneBodyAtMost};

constexpr Field kFixedFields[] = {
    integer("statusCode", "Status.").within(200, 599).needed(),
    objects("headers", kHeader, "Headers that are sent.").at_most(32),
    string("contentType", "Content-Type of the body.")
        .as(Format::kHeaderValue)
        .defaults_to("text/plain; charset=utf-8"),
    kBodyField,
    kBodyRefField,
};
constexpr Object kFixed{.fields = kFixedFields, .rules = kOneBodyAtMost};

constexpr Field kErrorPageFields[] = {
    strings("statuses", "Statuses that the page is sent with; a single one goes before its class.")
        .as(Format::kErrorStatus)
        .at_most(64)
        .needed(),
    kPageType,
    string("body", "The page.").as(Format::kPage),
    kBodyRefField,
    boolean("backendErrors", "Whether the page also replaces the bodies of backends' answers with these statuses.")
        .defaults_to("false"),
};
constexpr Object kErrorPage{.fields = kErrorPageFields, .rules = kOneBody};
constexpr Field kErrorPagesFields[] = {
    objects("pages", kErrorPage, "The pages.").at_most(64).needed(),
};
constexpr Object kErrorPages{kErrorPagesFields};

constexpr Field kSpecFields[] = {
    string("type", "What the policy does.").one_of(kTypes).needed(),
    object("targetRef", kTarget, "What it applies to; with no target, to the rules whose filters name it.")
        .or_as("spec.targetRefs"),
    objects("targetRefs", kTarget, "What it applies to: each as if it had a policy of its own.")
        .at_most(16)
        .or_as("spec.targetRef"),
    object("basicAuth", kBasic, "Settings of BasicAuth.").with_type("BasicAuth"),
    object("forwardAuth", kForward, "Settings of ForwardAuth.").with_type("ForwardAuth"),
    object("oidc", kOidc, "Settings of OIDC.").with_type("OIDC"),
    object("jwt", kJwt, "Settings of JWT.").with_type("JWT"),
    object("rateLimit", kRate, "Settings of RateLimit.").with_type("RateLimit"),
    object("cors", kCors, "Settings of CORS.").with_type("CORS"),
    object("securityHeaders", kSecurity, "Settings of SecurityHeaders.").with_type("SecurityHeaders"),
    object("ipAccess", kAccess, "Settings of IPAccess.").with_type("IPAccess"),
    object("apiKey", kApiKey, "Settings of APIKey.").with_type("APIKey"),
    object("maintenance", kMaintenance, "Settings of Maintenance.").with_type("Maintenance"),
    object("fixedResponse", kFixed, "Settings of FixedResponse.").with_type("FixedResponse"),
    object("errorPages", kErrorPages, "Settings of ErrorPages.").with_type("ErrorPages"),
    object("concurrencyLimit", kConcurrency, "Settings of ConcurrencyLimit.").with_type("ConcurrencyLimit"),
    object("clientCertificate", kClientCertificate, "Settings of ClientCertificate.").with_type("ClientCertificate"),
    object("requestFilter", kRequestFilter, "Settings of RequestFilter.").with_type("RequestFilter"),
};
constexpr Rule kSpecRules[] = {
    {"!(has(self.targetRef) && has(self.targetRefs))", "targetRef and targetRefs exclude each other"},
};
constexpr Object kSpec{.fields = kSpecFields, .rules = kSpecRules};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kAncestorRefFields[] = {
    string("group", "Group of its kind."),
    string("kind", "Kind.").needed(),
    string("namespace", "Namespace."),
    string("name", "Name.").needed(),
    string("sectionName", "The listener or rule; all of it without one."),
};
constexpr Object kAncestorRef{kAncestorRefFields};

constexpr Field kAncestorFields[] = {
    object("ancestorRef", kAncestorRef, "The target.").needed(),
    string("controllerName", "The controller that says so.").needed(),
    kConditionsField,
};
constexpr Object kAncestor{kAncestorFields};

constexpr Field kStatusFields[] = {
    string("target", "`kind/name` of the target, for the table."),
    objects("ancestors", kAncestor, "What became of each target (GEP-713).").at_most(16),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr std::string_view kAliases[] = {"policies", "policy", "pol"};
constexpr Column kColumns[] = {
    {"TYPE", ".spec.type"},
    {"TARGET", ".status.target"},
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: ProxyPolicy
metadata:
  name: cart-rate
  namespace: shop
spec:
  type: RateLimit
  targetRef:
    kind: ProxyRoute
    name: cart
  rateLimit:
    requestsPerSecond: 50
    burst: 100
    key: header:X-Api-Key
)";

}  // namespace

const Object kProxyPolicy{kFields};
const Manifest kProxyPolicyManifest{
    .text =
        "Who may pass and how often, and what the proxy answers itself: one authentication, address, rate-limit, "
        "concurrency-limit, CORS, security-header, maintenance, fixed-response or error-page policy on a gateway, a "
        "listener, a route or a rule. The narrower one replaces the wider of the same type.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kStatus,
    .example = kExample};

}  // namespace edge::schemas
