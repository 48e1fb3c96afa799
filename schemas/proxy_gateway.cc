#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kProtocols[] = {"HTTP", "HTTPS", "TCP", "TLS"};
constexpr std::string_view kTlsModes[] = {"Terminate", "Passthrough"};
constexpr std::string_view kTlsVersions[] = {"TLS1.2", "TLS1.3"};
constexpr std::string_view kSchemes[] = {"http", "https"};
constexpr std::string_view kAlgorithms[] = {"gzip", "br"};

constexpr Field kSecretFields[] = {
    string("name", "Name of the secret.").as(Format::kName).needed(),
    string("namespace", "Namespace of the secret.").as(Format::kNamespace),
};
constexpr Object kSecretRef{kSecretFields};

constexpr Field kTlsFields[] = {
    object("secretRef", kSecretRef, "Secret with the certificate and its key."),
    objects("certificateRefs", kSecretRef, "Secrets with certificates; the other form of secretRef."),
    string("mode", "Where TLS ends.").one_of(kTlsModes),
    string("minVersion", "Lowest TLS version.").one_of(kTlsVersions).defaults_to("TLS1.2"),
};
constexpr Object kTls{kTlsFields};

constexpr Field kRedirectFields[] = {
    boolean("enabled", "Whether plain requests are redirected.").defaults_to("false"),
    string("scheme", "Scheme of the new location.").one_of(kSchemes).defaults_to("https"),
    integer("port", "Port of the new location.").within(1, 65535).defaults_to("443"),
    integer("statusCode", "301 or 302.").within(301, 302).defaults_to("301"),
    strings("exclusions", "Paths that are not redirected; one that ends in / is a prefix.").as(Format::kPath),
};
constexpr Object kRedirectScheme{kRedirectFields};

constexpr Field kListenerFields[] = {
    string("name", "Name of the listener.").as(Format::kLabel).needed(),
    integer("port", "Port.").within(1, 65535).needed(),
    string("protocol", "HTTP, HTTPS, TCP (raw) or TLS (passthrough by SNI).").one_of(kProtocols).needed(),
    strings("hostnames", "Names that the listener serves; none: all.").as(Format::kHostname).at_most(1024),
    object("tls", kTls, "TLS settings."),
    boolean("sslRedirect", "Whether requests are redirected to HTTPS.").defaults_to("false"),
    integer("maxRequestBodySize", "Longest request body in bytes; 0 is unlimited.")
        .within(0, kNoMaximum)
        .defaults_to("10485760"),
    object("redirectScheme", kRedirectScheme, "Redirection of plain requests of this listener."),
};
constexpr Object kListener{kListenerFields};

constexpr Field kCompressionFields[] = {
    boolean("enabled", "Whether responses are compressed.").defaults_to("false"),
    string("minSize", "Smaller bodies are left alone.").as(Format::kSize).defaults_to("1024"),
    integer("level", "gzip 1 to 9, brotli 0 to 11.").within(0, 11).defaults_to("6"),
    strings("algorithms", "In order of preference.").one_of(kAlgorithms),
    strings("excludeTypes", "Patterns of content types that are left alone."),
};
constexpr Object kCompression{kCompressionFields};

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
};
constexpr Object kTracing{kTracingFields};

constexpr Field kAccessLogFields[] = {
    boolean("enabled", "Whether requests are logged.").defaults_to("false"),
    string("format", "json, common, combined, or a template with %{...}.").defaults_to("json"),
    strings("excludePaths", "Paths that are not logged."),
};
constexpr Object kAccessLog{kAccessLogFields};

constexpr Field kSpecFields[] = {
    string("vipRef", "Name of a ProxyVIP; without it every address of the node is served.").as(Format::kNamespacedName),
    string("loadBalancerClass", "Class of the controller that serves the gateway (rule D8)."),
    objects("listeners", kListener, "Ports and names that are served.").needed(),
    object("compression", kCompression, "Compression of responses (rule D6)."),
    object("cache", kCache, "Cache of responses."),
    object("tracing", kTracing, "Tracing."),
    object("accessLog", kAccessLog, "Access log."),
    object("redirectScheme", kRedirectScheme, "Redirection of plain requests of all listeners (rule D9)."),
    strings("trustedProxies", "Peers whose X-Forwarded-For and PROXY protocol are believed.")
        .as(Format::kCidr)
        .at_most(4096),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

}  // namespace

const Object kProxyGateway{kFields};

}  // namespace edge::schemas
