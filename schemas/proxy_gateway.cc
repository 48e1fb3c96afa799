#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kProtocols[] = {"HTTP", "HTTPS", "TCP", "TLS", "UDP"};
constexpr std::string_view kTlsModes[] = {"Terminate", "Passthrough"};
constexpr std::string_view kTlsVersions[] = {"TLS1.2", "TLS1.3"};
constexpr std::string_view kSchemes[] = {"http", "https"};
constexpr std::string_view kStatuses[] = {"301", "302"};
constexpr std::string_view kEscapedSlashes[] = {"Keep", "Reject", "Unescape"};
constexpr std::string_view kPathParameters[] = {"Keep", "Reject"};
constexpr std::string_view kAlgorithms[] = {"gzip", "br"};
constexpr std::string_view kCompressedFor[] = {"Always", "SameOrigin", "Never"};
constexpr std::string_view kSwitch[] = {"Enabled", "Disabled"};
constexpr std::string_view kTraceSenders[] = {"TrustedProxies", "Always", "Never"};

constexpr Field kValidationFields[] = {
    objects("caCertificateRefs", kSecretRef,
            "Secrets with the key ca.crt; a client's certificate must come from one of them.")
        .at_most(16)
        .needed(),
    boolean("optional", "Whether clients without a certificate are served too; one that is shown must do all the same.")
        .defaults_to("false"),
    boolean("requireCRL",
            "Whether only certificates are believed whose authorities have a list of revoked ones, in the Secret's key "
            "ca.crl, that is in time. Without it a list counts where there is one.")
        .defaults_to("false"),
};
constexpr Object kValidation{kValidationFields};

constexpr Field kOnDemandFields[] = {
    strings("allow", "Names that may have a certificate: a name, or `*.name` for every name below it.")
        .as(Format::kHostname)
        .at_most(64),
    string("askURL",
           "Asked for names that `allow` does not have, by GET with `domain=NAME` in its query: status 200 allows the "
           "name, any other refuses it.")
        .as(Format::kUrl),
    integer("maxNames", "Names that are kept at once; further ones are refused.").within(1, 2000).defaults_to("1000"),
    string("keepUnused",
           "A name that no client has asked for so long, `1h` at least, is given up: its certificate is not renewed.")
        .as(Format::kDuration)
        .defaults_to("720h"),
};
constexpr Rule kOnDemandRules[] = {
    {"has(self.allow) && size(self.allow) > 0 || has(self.askURL)",
     "without an allow-list or an ask-URL any client could have certificates ordered for any name"},
    {"!has(self.keepUnused) || duration(self.keepUnused) >= duration('1h')", "keepUnused is 1h at least"},
};
constexpr Object kOnDemand{.fields = kOnDemandFields, .rules = kOnDemandRules};

constexpr Field kListenerAcmeFields[] = {
    string("issuer", "Name of a CertificateIssuer in the gateway's namespace. Without it the fields below apply.")
        .as(Format::kName),
    kIssuerEmail,
    kIssuerDirectory,
    kIssuerKeyType,
    kIssuerChallenges,
    object("onDemand", kOnDemand,
           "Names that are not known before: a certificate is ordered when the first client asks for one."),
};
constexpr Rule kListenerAcmeRules[] = {
    {"!has(self.issuer) || !(has(self.email) || has(self.directoryURL) || has(self.keyType) || has(self.challenges))",
     "a CertificateIssuer is named, or the CA is described here, not both"},
};
constexpr Object kListenerAcme{.fields = kListenerAcmeFields, .rules = kListenerAcmeRules};

constexpr Field kTlsFields[] = {
    object("secretRef", kSecretRef, "Secret with the certificate and its key.")
        .or_as("spec.listeners.tls.certificateRefs"),
    objects("certificateRefs", kSecretRef, "Secrets with certificates, chosen by the name that the client asks for.")
        .at_most(64)
        .or_as("spec.listeners.tls.secretRef"),
    string("certFile",
           "In place of Secrets: PEM file with the certificate, which is followed; below a directory that --tls-files "
           "names.")
        .as(Format::kFilePath),
    string("keyFile", "PEM file with the key of certFile.").as(Format::kFilePath),
    object(
        "acme", kListenerAcme,
        "In place of Secrets and files: the certificate of each host name is ordered from a CA (ACME, RFC 8555), and "
        "renewed. The names are those of the listener; where it has none, those of its routes."),
    object("clientValidation", kValidation, "Mutual TLS: clients show a certificate.").narrowing(),
    string("mode", "Where TLS ends; Terminate without it with protocol HTTPS, Passthrough with TLS.").one_of(kTlsModes),
    string("minVersion", "Lowest TLS version.").one_of(kTlsVersions).defaults_to("TLS1.2"),
};
// `namespace` is a word of CEL, hence its spelling.
constexpr Rule kTlsRules[] = {
    {"!has(self.secretRef) || !has(self.certificateRefs) || (size(self.certificateRefs) == 1 && "
     "self.certificateRefs.all(c, c.name == self.secretRef.name))",
     "secretRef and certificateRefs are two forms of one setting, and say different things"},
    {"!has(self.secretRef) || !has(self.certificateRefs) || self.certificateRefs.all(c, "
     "has(c.__namespace__) == has(self.secretRef.__namespace__) && "
     "(!has(c.__namespace__) || c.__namespace__ == self.secretRef.__namespace__))",
     "secretRef and certificateRefs are two forms of one setting, and say different namespaces"},
    {"has(self.certFile) == has(self.keyFile)", "certFile and keyFile go together"},
    {"!has(self.certFile) || !(has(self.secretRef) || has(self.certificateRefs))",
     "the certificate comes from files or from Secrets, not from both"},
    {"!has(self.acme) || !(has(self.certFile) || has(self.secretRef) || has(self.certificateRefs))",
     "certificates are ordered from a CA, or are there in Secrets or files, not both"},
};
constexpr Object kTls{.fields = kTlsFields, .rules = kTlsRules};

constexpr Field kRedirectFields[] = {
    boolean("enabled", "Whether plain requests are redirected.").defaults_to("false"),
    string("scheme", "Scheme of the new location.").one_of(kSchemes).defaults_to("https"),
    integer("port", "Port of the new location.").within(1, 65535).defaults_to("443"),
    integer("statusCode", "Status of the redirect.").one_of(kStatuses).defaults_to("301"),
    strings("exclusions", "Paths that are not redirected; one that ends in / is a prefix.").as(Format::kPath),
};
constexpr Object kRedirectScheme{kRedirectFields};

constexpr Field kListenerFields[] = {
    string("name", "Name of the listener.").as(Format::kLabel).needed(),
    integer("port", "Port.").within(1, 65535).needed(),
    string("protocol", "HTTP, HTTPS, TCP (raw), TLS (passthrough by SNI) or UDP (datagrams).")
        .one_of(kProtocols)
        .needed(),
    strings("hostnames", "Names that the listener serves; none: all.").as(Format::kHostname).at_most(1024),
    object("tls", kTls, "TLS settings."),
    boolean("sslRedirect", "Whether requests are redirected to HTTPS.").defaults_to("false"),
    integer("maxRequestBodySize", "Longest request body in bytes; 0 is unlimited.")
        .within(0, kNoMaximum)
        .defaults_to("10485760"),
    boolean("proxyProtocol",
            "Whether connections begin with a PROXY header (v1 or v2); only trustedProxies may connect.")
        .defaults_to("false"),
    object("redirectScheme", kRedirectScheme, "Redirection of plain requests of this listener.")
        .or_as("spec.redirectScheme"),
};
constexpr Rule kListenerRules[] = {
    {"!has(self.tls) || self.protocol in ['HTTPS', 'TLS']", "a listener of protocol HTTP or TCP has no TLS settings"},
    {"self.protocol != 'TCP' || !has(self.hostnames) || size(self.hostnames) == 0",
     "connections of protocol TCP name no host"},
    {"self.protocol != 'HTTPS' || !has(self.tls) || !has(self.tls.mode) || self.tls.mode != 'Passthrough'",
     "what passes through is not read as HTTP"},
};
constexpr Object kListener{.fields = kListenerFields, .rules = kListenerRules};

constexpr Field kClustersFields[] = {
    strings("advertise", "Addresses at which other clusters reach the gateway, such as `198.51.100.7:15443`.")
        .as(Format::kEndpointAddress)
        .at_most(16)
        .needed(),
};
constexpr Object kClusters{kClustersFields};

constexpr Field kCompressionFields[] = {
    boolean("enabled", "Whether responses are compressed.").defaults_to("false"),
    string("minSize", "Smaller bodies are left alone.").as(Format::kSize).defaults_to("1024"),
    integer("level", "gzip 1 to 9, brotli 0 to 11.").within(0, 11).defaults_to("6"),
    strings("algorithms", "In order of preference.").one_of(kAlgorithms).at_most(8).defaults_to("[gzip, br]"),
    strings("excludeTypes", "Patterns of content types that are left alone; image/svg+xml is not meant by image/*.")
        .at_most(1024)
        .defaults_to("[image/*, video/*, audio/*, font/woff*, application/zip, application/gzip, "
                     "application/x-7z-compressed, application/octet-stream, text/event-stream]"),
    string("credentials", "Whether responses to requests with Cookie or Authorization are compressed.")
        .one_of(kCompressedFor)
        .defaults_to("Always"),
};
constexpr Rule kCompressionRules[] = {
    {"!has(self.level) || (self.level >= 1 && self.level <= 9) || (has(self.algorithms) && size(self.algorithms) > 0 "
     "&& "
     "!('gzip' in self.algorithms))",
     "gzip knows levels 1 to 9"},
};
constexpr Object kCompression{.fields = kCompressionFields, .rules = kCompressionRules};

constexpr Field kCacheFields[] = {
    boolean("enabled", "Whether responses are cached.").defaults_to("false"),
    string("maxSize", "Size of the cache.").as(Format::kSize).defaults_to("256Mi"),
    string("defaultTTL", "Lifetime of responses that state none.").as(Format::kDuration).defaults_to("0s"),
    string("maxTTL", "Longest lifetime.").as(Format::kDuration).defaults_to("24h"),
    string("maxEntrySize", "Largest response that is kept.").as(Format::kSize).defaults_to("1Mi"),
};
constexpr Object kCache{kCacheFields};

constexpr Field kTracingFields[] = {
    boolean("enabled", "Whether requests are traced.").defaults_to("false"),
    integer("samplingRate", "Percent of requests that are traced.").within(0, 100).defaults_to("100"),
    string("trustIncoming", "Whose word on whether a request is traced goes before samplingRate.")
        .one_of(kTraceSenders)
        .defaults_to("TrustedProxies"),
};
constexpr Object kTracing{kTracingFields};

constexpr Field kAccessLogFields[] = {
    boolean("enabled", "Whether requests are logged.").defaults_to("false"),
    string("format", "json, common, combined, or a template with %{...}.").defaults_to("json"),
    strings("excludePaths", "Paths that are not logged."),
};
constexpr Object kAccessLog{kAccessLogFields};

constexpr Field kLimitsFields[] = {
    string("minRequestBodyRate", "Bytes a second that a request's body comes with at least; 0: no bound.")
        .as(Format::kSize)
        .defaults_to("500"),
    string("requestBodyGracePeriod", "Time that a body has before its rate counts, and for its first byte.")
        .as(Format::kDuration)
        .defaults_to("10s"),
    integer("maxConnectionsPerSource",
            "Connections at once of one address (IPv6: /64) to one port; trustedProxies have no bound, nor does 0.")
        .within(0, 1'000'000'000)
        .defaults_to("10000"),
    integer("maxStreamsPerSource", "HTTP/2 streams at once of these connections together; 0: no bound.")
        .within(0, 1'000'000'000)
        .defaults_to("10000"),
};
constexpr Object kLimits{kLimitsFields};

constexpr Field kPathsFields[] = {
    boolean("mergeSlashes", "Whether `//` in a path becomes `/`.").defaults_to("false"),
    string("escapedSlashes",
           "What becomes of %2F in a path: it stays, is answered 400, or becomes `/`. Unless it stays, %5C is answered "
           "400.")
        .one_of(kEscapedSlashes)
        .defaults_to("Keep"),
    string("pathParameters", "What becomes of a path with `;` or %3B: it stays, or is answered 400.")
        .one_of(kPathParameters)
        .defaults_to("Keep"),
};
constexpr Object kPaths{kPathsFields};

constexpr Field kSpecFields[] = {
    string("vipRef", "Name of a ProxyVIP; without it every address of the node is served.").as(Format::kNamespacedName),
    string("loadBalancerClass", "Class of the controller that serves the gateway (rule D8).")
        .defaults_to(EDGE_API_GROUP "/proxy"),
    strings("agentGroups", "Groups of agents that serve the gateway; all agents without it.")
        .as(Format::kLabel)
        .at_most(16)
        .narrowing(),
    object("clusters", kClusters,
           "Makes the gateway one that takes requests of other clusters, and of nobody else, for services that "
           "ServiceExports name. Its listeners are of protocol HTTPS without `tls`."),
    objects("listeners", kListener, "Ports and names that are served.").at_most(256).keyed_by("name").needed(),
    object("compression", kCompression, "Compression of responses (rule D6)."),
    object("cache", kCache, "Cache of responses."),
    object("tracing", kTracing, "Tracing."),
    object("accessLog", kAccessLog, "Access log."),
    object("limits", kLimits, "What clients may cost."),
    object("paths", kPaths, "What is done to paths before a rule is looked for, beyond normalising them."),
    string("canaryHeader", "Whether `X-Canary: true` of a request chooses the backend of the lowest weight.")
        .one_of(kSwitch)
        .defaults_to("Enabled"),
    string("reasonHeader", "Whether answers of the proxy itself tell why in X-Edge-Reason.")
        .one_of(kSwitch)
        .defaults_to("Enabled"),
    object("redirectScheme", kRedirectScheme, "Redirection of plain requests of all listeners (rule D9).")
        .or_as("spec.listeners.redirectScheme"),
    strings("trustedProxies", "Peers whose X-Forwarded-For and PROXY protocol are believed.")
        .as(Format::kCidr)
        .at_most(4096),
};
constexpr Rule kSpecRules[] = {
    {"!has(self.redirectScheme) || self.listeners.all(l, !has(l.redirectScheme) || (l.redirectScheme.enabled == "
     "self.redirectScheme.enabled && l.redirectScheme.scheme == self.redirectScheme.scheme && l.redirectScheme.port == "
     "self.redirectScheme.port && l.redirectScheme.statusCode == self.redirectScheme.statusCode))",
     "redirectScheme is written in a listener or in spec: the two say different things"},
};
constexpr Object kSpec{.fields = kSpecFields, .rules = kSpecRules};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kListenerStatusFields[] = {
    string("name", "Name of the listener.").needed(),
    integer("attachedRoutes", "Routes that it serves.").within(0, kNoMaximum),
    kConditionsField,
};
constexpr Object kListenerStatus{kListenerStatusFields};
constexpr Field kStatusFields[] = {
    strings("addresses", "Addresses that are served."),
    integer("listenerCount", "Listeners, for the table.").within(0, kNoMaximum),
    objects("listeners", kListenerStatus, "State of each listener.").at_most(256).keyed_by("name"),
    string("program", "Hash of the routing program that holds the gateway."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr std::string_view kAliases[] = {"gateways", "gateway", "gw"};
constexpr Column kColumns[] = {
    {"VIP", ".spec.vipRef"},
    {"LISTENERS", ".status.listenerCount", ColumnType::kInteger},
    kReadyColumn,
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: ProxyGateway
metadata:
  name: web
  namespace: shop
spec:
  vipRef: edge-system/public
  listeners:
    - name: http
      port: 80
      protocol: HTTP
      hostnames: ["*.example.com"]
    - name: https
      port: 443
      protocol: HTTPS
      hostnames: ["*.example.com"]
      tls:
        certificateRefs:
          - name: wildcard-example-com
  redirectScheme:
    enabled: true
    exclusions: [/.well-known/acme-challenge/]
  compression:
    enabled: true
  accessLog:
    enabled: true
)";

}  // namespace

const Object kProxyGateway{kFields};
const Manifest kProxyGatewayManifest{.text =
                                         "Where traffic comes in: an address, ports and names with their protocol and "
                                         "certificates, and what holds for every request of them.",
                                     .aliases = kAliases,
                                     .columns = kColumns,
                                     .status = &kStatus,
                                     .example = kExample};

}  // namespace edge::schemas
