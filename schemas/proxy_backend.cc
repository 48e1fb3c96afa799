#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kPolicies[] = {"RoundRobin", "LeastConn", "P2C", "EWMA", "RingHash", "Maglev", "Random"};
constexpr std::string_view kProtocols[] = {"HTTP", "H2C", "H2", "GRPC", "UDP"};
constexpr std::string_view kCheckProtocols[] = {"HTTP", "TCP", "GRPC"};
constexpr std::string_view kProxyProtocols[] = {"V1", "V2"};
constexpr std::string_view kRoots[] = {"System"};
constexpr std::string_view kNameTypes[] = {"Hostname", "URI"};
constexpr std::string_view kRetryOn[] = {
    "5xx", "reset", "connect-failure", "connection-failure", "retriable-4xx", "refused-stream", "429", "500", "502",
    "503", "504"};
constexpr std::int64_t kManyConnections = 10'000'000;

constexpr Field kServiceRefFields[] = {
    string("name", "Name of a Service.").as(Format::kName).needed(),
    string("namespace", "Namespace of the service.").as(Format::kNamespace),
    int_or_string("port", "Port of the service, by number or name.").within(1, 65535).needed(),
};
constexpr Object kServiceRef{kServiceRefFields};

constexpr Field kStaticEndpointFields[] = {
    string("address",
           "Host and port, such as `127.0.0.1:8080`, `[::1]:8080` or `api.example.org:443`, or a name whose SRV "
           "records say "
           "both, such as `_http._tcp.example.org`. Agents resolve names, and again when the answer's lifetime ends.")
        .as(Format::kEndpointAddress)
        .needed(),
    integer("weight", "Its share of requests beside the others'. Of a name it is that of each of its addresses.")
        .within(1, 256)
        .defaults_to("1"),
    string("zone",
           "Where it is. Agents of this zone send requests to its endpoints alone while at least 70% of them, by "
           "weight, can take requests.")
        .as(Format::kLabelValue),
};
constexpr Object kStaticEndpoint{kStaticEndpointFields};

constexpr Field kTimeoutFields[] = {
    string("connect", "Time for a connection.").as(Format::kDuration).defaults_to("5s").or_as("spec.connectTimeout"),
    string("request", "Time for the whole request.").as(Format::kDuration),
    string("idle", "How long an unused connection is kept.")
        .as(Format::kDuration)
        .defaults_to("60s")
        .or_as("spec.connectionPool.idleConnTimeout"),
};
constexpr Object kTimeout{kTimeoutFields};

constexpr Field kHeaderFields[] = {
    string("name", "Name of the header.").as(Format::kHeaderName).needed(),
    string("value", "Its value.").as(Format::kHeaderValue).needed(),
};
constexpr Object kHeader{kHeaderFields};

constexpr Field kHttpCheckFields[] = {
    string("path", "Path that is asked for.")
        .as(Format::kPath)
        .defaults_to("/health")
        .or_as("spec.healthCheck.httpPath"),
    string("host", "Host header."),
    integers("expectedStatuses", "Statuses of a healthy endpoint.").within(100, 599).at_most(500).defaults_to("[200]"),
    objects("headers", kHeader, "Headers of the check.").at_most(256).defaults_to("[]"),
};
constexpr Object kHttpCheck{kHttpCheckFields};

constexpr Field kGrpcCheckFields[] = {
    string("serviceName", "Service that is asked about."),
};
constexpr Object kGrpcCheck{kGrpcCheckFields};

constexpr Field kHealthFields[] = {
    string("protocol", "How endpoints are asked.").one_of(kCheckProtocols).defaults_to("HTTP"),
    string("interval", "Time between checks.").as(Format::kDuration).defaults_to("10s"),
    string("timeout", "Time for an answer; less than the interval.").as(Format::kDuration).defaults_to("5s"),
    integer("healthyThreshold", "Successes in a row that make an endpoint healthy.").within(1, 1000).defaults_to("2"),
    integer("unhealthyThreshold", "Failures in a row that make it unhealthy.").within(1, 1000).defaults_to("3"),
    string("initialDelay", "Time before the first check.").as(Format::kDuration).defaults_to("0s"),
    string("httpPath", "Short form of httpHealthCheck.path.")
        .as(Format::kPath)
        .defaults_to("/health")
        .or_as("spec.healthCheck.httpHealthCheck.path"),
    object("httpHealthCheck", kHttpCheck, "Settings of HTTP checks."),
    object("grpcHealthCheck", kGrpcCheck, "Settings of gRPC checks."),
};
constexpr Rule kHealthRules[] = {
    {"!has(self.httpPath) || !has(self.httpHealthCheck) || !has(self.httpHealthCheck.path) || self.httpPath == "
     "self.httpHealthCheck.path",
     "httpPath and httpHealthCheck.path are two forms of one setting, and say different things"},
};
constexpr Object kHealth{.fields = kHealthFields, .rules = kHealthRules};

constexpr Field kPassiveFields[] = {
    boolean("enabled", "Whether traffic decides on an endpoint's health.").defaults_to("true"),
    integer("consecutiveErrors", "Errors in a row before ejection.").within(0, 1'000'000).defaults_to("5"),
    string("interval", "Time between sweeps.").as(Format::kDuration).defaults_to("30s"),
    string("baseEjectionTime", "Time of the first ejection.").as(Format::kDuration).defaults_to("30s"),
    integer("maxEjectionPercent", "Most endpoints that may be ejected.").within(0, 100).defaults_to("50"),
    integer("consecutiveGatewayErrors", "5xx answers in a row before ejection; 0: not counted.")
        .within(0, 1'000'000)
        .defaults_to("0"),
};
constexpr Object kPassive{kPassiveFields};

constexpr Field kBreakerFields[] = {
    integer("consecutiveErrors", "Errors in a row that open the circuit.")
        .within(0, 1'000'000)
        .or_as("spec.circuitBreaker.consecutiveFailures"),
    integer("consecutiveFailures", "Errors in a row that open the circuit.")
        .within(0, 1'000'000)
        .or_as("spec.circuitBreaker.consecutiveErrors"),
    string("interval", "Time between sweeps.").as(Format::kDuration),
    string("baseEjectionTime", "Time that the circuit stays open.").as(Format::kDuration),
    integer("maxEjectionPercent", "Most endpoints that may be ejected.").within(0, 100),
    boolean("splitExternalLocalOriginErrors", "Whether own and foreign errors are counted apart."),
    integer("maxConnections", "Most connections.").within(0, kManyConnections),
    integer("maxPendingRequests", "Most requests that wait for one.").within(0, kManyConnections),
};
constexpr Rule kBreakerRules[] = {
    {"!has(self.consecutiveErrors) || !has(self.consecutiveFailures) || self.consecutiveErrors == "
     "self.consecutiveFailures",
     "consecutiveErrors and consecutiveFailures are two forms of one setting, and say different things"},
};
constexpr Object kBreaker{.fields = kBreakerFields, .rules = kBreakerRules};

constexpr Field kLimitFields[] = {
    integer("maxConnections", "Most connections.").within(1, kManyConnections).defaults_to("1000"),
    integer("maxPendingRequests", "Most requests that wait for one.").within(0, kManyConnections).defaults_to("100"),
    integer("maxRequestsPerConnection", "Requests on one connection; 0: unlimited.")
        .within(0, kManyConnections)
        .defaults_to("0"),
    integer("maxRetries", "Most retries at one time; without a say where `retryPolicy.retryBudget` is given.")
        .within(0, kManyConnections)
        .defaults_to("3"),
};
constexpr Object kLimits{kLimitFields};

constexpr Field kPoolFields[] = {
    integer("maxIdleConns", "Most unused connections to all endpoints; none: no bound.").within(0, kManyConnections),
    integer("maxIdleConnsPerHost", "Most unused connections to one endpoint, of each core.")
        .within(0, kManyConnections)
        .defaults_to("128"),
    string("idleConnTimeout", "How long an unused connection is kept.")
        .as(Format::kDuration)
        .defaults_to("60s")
        .or_as("spec.timeout.idle"),
};
constexpr Object kPool{kPoolFields};

constexpr Field kBackOffFields[] = {
    string("baseInterval", "Pause before the first retry.").as(Format::kDuration).defaults_to("25ms"),
    string("maxInterval", "Longest pause.").as(Format::kDuration).defaults_to("250ms"),
};
constexpr Object kBackOff{kBackOffFields};

constexpr Field kBudgetFields[] = {
    integer("percent", "Share of the requests under way that may be retries at one time.")
        .within(0, 100)
        .defaults_to("20"),
    integer("minRetryConcurrency", "Retries that are allowed at one time, however few requests are under way.")
        .within(0, kManyConnections)
        .defaults_to("3"),
};
constexpr Object kBudget{kBudgetFields};

constexpr Field kRetryFields[] = {
    strings("retryOn", "What is tried again.").one_of(kRetryOn).defaults_to("[connect-failure, reset, refused-stream]"),
    integer("numRetries", "How often a request is tried again.").within(0, 100).defaults_to("1"),
    string("perTryTimeout", "Time for one try.").as(Format::kDuration),
    object("retryBackOff", kBackOff, "Pauses between tries."),
    object("retryBudget", kBudget, "How much load retries may add, those of routes as well."),
};
constexpr Object kRetry{kRetryFields};

constexpr Field kProxyProtocolFields[] = {
    string("version", "V1 is text, V2 binary.").one_of(kProxyProtocols).needed(),
};
constexpr Object kProxyProtocol{kProxyProtocolFields};

constexpr Field kSlowStartFields[] = {
    string("window", "Time in which a new endpoint comes to its full share.").as(Format::kDuration).needed(),
};
constexpr Object kSlowStart{kSlowStartFields};

constexpr Field kAlternativeNameFields[] = {
    string("type", "Kind of the name.").one_of(kNameTypes).needed(),
    string("hostname", "A DNS name.").as(Format::kHostname).with_type("Hostname"),
    string("uri", "A URI, as a SPIFFE identity is.").with_type("URI"),
};
constexpr Object kAlternativeName{kAlternativeNameFields};

constexpr Field kTlsFields[] = {
    string("hostname", "Sent as SNI; the endpoint's certificate must be for it.").as(Format::kHostname).needed(),
    objects("caCertificateRefs", kSecretRef, "Secrets whose `ca.crt` vouches for the endpoints.").at_most(8),
    string("wellKnownCACertificates", "`System`: the authorities of the node; so too when nothing else is named.")
        .one_of(kRoots),
    objects("subjectAltNames", kAlternativeName,
            "Names of which the endpoint's certificate must have one, in the place of `hostname`.")
        .at_most(5),
    object("clientCertificateRef", kSecretRef, "The Secret of type kubernetes.io/tls that is shown to the endpoints."),
};
constexpr Object kTls{kTlsFields};

constexpr Field kClusterRefFields[] = {
    string("cluster",
           "Name of the other cluster at the hub; `hub` is the hub itself, `*` every cluster that exports the service.")
        .needed(),
    string("name", "Name of a Service there that a ServiceExport exports.").as(Format::kName).needed(),
    string("namespace", "Its namespace there; the backend's own without it.").as(Format::kNamespace),
    int_or_string("port", "Port of the service, by number or name.").within(1, 65535).needed(),
    integer("priority",
            "Order in which clusters are used when the own endpoints are not enough; those of the agent's region come "
            "first among equals.")
        .within(1, 15)
        .defaults_to("1"),
    integer("weight", "Its share beside other clusters of the same priority.").within(1, 256).defaults_to("1"),
    string("region", "Region of the cluster, where it is not the one that the hub knows.").as(Format::kLabelValue),
    strings("gateways", "Addresses of the cluster's gateway, such as `198.51.100.7:15443`, in place of those it tells.")
        .as(Format::kEndpointAddress)
        .at_most(16),
};
constexpr Object kClusterRef{kClusterRefFields};

constexpr Field kFailoverFields[] = {
    integer("healthyPercent",
            "Share of the own endpoints, by weight, that is enough for all requests. Below it a part goes to other "
            "clusters, so that no endpoint carries more than 100/healthyPercent of its usual load.")
        .within(1, 100)
        .defaults_to("70"),
    integer("maxRequestsPerEndpoint",
            "Requests under way for each own endpoint, above which others go to other clusters; none: no bound.")
        .within(1, 1'000'000),
};
constexpr Object kFailover{kFailoverFields};

constexpr Field kSpecFields[] = {
    object("serviceRef", kServiceRef, "The service whose endpoints serve; this, `endpoints` or `url`."),
    objects("endpoints", kStaticEndpoint, "The endpoints themselves, where no service has them.").at_most(256),
    string(
        "url",
        "A site, such as `https://api.example.org`: its host is resolved, https is TLS for its name, and requests name "
        "it as their host where no filter says another. It has no path.")
        .as(Format::kUrl),
    objects("clusterRefs", kClusterRef,
            "Services of other clusters that serve too, through the gateways of those; without own endpoints, alone.")
        .at_most(16)
        .keyed_by("cluster"),
    object("failover", kFailover, "When requests go to the clusters of `clusterRefs`."),
    string("protocol",
           "What is spoken with the endpoints: HTTP/1.1, or HTTP/2 in the clear (H2C), over TLS (H2), or as `tls` says "
           "(GRPC); or datagrams (UDP), for listeners of protocol UDP alone. Without it, what `appProtocol` of the "
           "service's port says, else HTTP.")
        .one_of(kProtocols),
    string("lbPolicy", "How an endpoint is chosen.").one_of(kPolicies).defaults_to("RoundRobin"),
    object("slowStart", kSlowStart, "Little traffic at first for endpoints that are new."),
    string("connectTimeout", "Time for a connection.")
        .as(Format::kDuration)
        .defaults_to("5s")
        .or_as("spec.timeout.connect"),
    object("timeout", kTimeout, "Timeouts."),
    object("healthCheck", kHealth, "Active checks."),
    object("passiveHealthCheck", kPassive, "Ejection by traffic."),
    object("circuitBreaker", kBreaker, "Circuit breaker."),
    object("connectionLimits", kLimits, "Limits."),
    object("connectionPool", kPool, "Unused connections."),
    object("retryPolicy", kRetry, "Retries (rule D10)."),
    object("tls", kTls, "TLS with the endpoints; without it plain text."),
    strings(
        "trailers",
        "Headers that the endpoints take behind a request's body; others are dropped there. Of protocol GRPC all pass.")
        .as(Format::kHeaderName)
        .at_most(64),
    object("proxyProtocol", kProxyProtocol, "Tells the endpoints the client's address by the PROXY protocol."),
};
constexpr Rule kSpecRules[] = {
    {"has(self.serviceRef) ? !has(self.endpoints) && !has(self.url) : has(self.endpoints) != has(self.url) || "
     "(!has(self.endpoints) && has(self.clusterRefs) && size(self.clusterRefs) > 0)",
     "exactly one of serviceRef, endpoints and url is required, or clusterRefs"},
    {"!has(self.clusterRefs) || size(self.clusterRefs) == 0 || ((!has(self.protocol) || self.protocol != 'UDP') && "
     "!has(self.proxyProtocol))",
     "clusterRefs are called over HTTP/2: protocol UDP and proxyProtocol exclude them"},
    {"!has(self.failover) || (has(self.clusterRefs) && size(self.clusterRefs) > 0)", "failover needs clusterRefs"},
    {"!has(self.url) || !has(self.tls) || self.url.startsWith('https://')",
     "tls and a URL of scheme http exclude each other"},
    {"!has(self.endpoints) || size(self.endpoints) > 0", "endpoints must have an entry"},
    {"!has(self.connectTimeout) || !has(self.timeout) || !has(self.timeout.connect) || "
     "duration(self.connectTimeout) == duration(self.timeout.connect)",
     "connectTimeout and timeout.connect are two forms of one setting, and say different things"},
    {"!has(self.timeout) || !has(self.timeout.idle) || !has(self.connectionPool) || "
     "!has(self.connectionPool.idleConnTimeout) || duration(self.timeout.idle) == "
     "duration(self.connectionPool.idleConnTimeout)",
     "timeout.idle and connectionPool.idleConnTimeout are two forms of one setting, and say different things"},
    {"!has(self.protocol) || self.protocol != 'H2' || has(self.tls) || (has(self.url) && "
     "self.url.startsWith('https://'))",
     "tls is required with protocol H2; without TLS it is H2C"},
    {"!has(self.protocol) || self.protocol != 'H2C' || !(has(self.tls) || (has(self.url) && "
     "self.url.startsWith('https://')))",
     "tls and protocol H2C exclude each other; over TLS it is H2"},
};
constexpr Object kSpec{.fields = kSpecFields, .rules = kSpecRules};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kEndpointFields[] = {
    string("address", "Host and port.").needed(),
    boolean("healthy", "Whether it takes traffic.").needed(),
    string("lastCheck", "When it was last asked.").as(Format::kTimestamp),
    string("lastError", "What went wrong last."),
    string("zone", "The zone whose agents prefer it; of several, with commas."),
    string("cluster", "The other cluster whose gateway it is."),
};
constexpr Object kEndpoint{kEndpointFields};
constexpr Field kEndpointNameFields[] = {
    string("name", "As it is written in `endpoints` or `url`, with the port.").needed(),
    string("lastError", "Why the last lookup led to no address; its last known addresses may be in use."),
};
constexpr Object kEndpointName{kEndpointNameFields};
constexpr Field kStatusFields[] = {
    objects("endpoints", kEndpoint, "Endpoints; of names, those that agents have found.").keyed_by("address"),
    objects("names", kEndpointName, "Names that agents resolve to endpoints.").keyed_by("name"),
    integer("healthyCount", "Endpoints that are healthy.").within(0, kNoMaximum),
    integer("unhealthyCount", "Endpoints that are not.").within(0, kNoMaximum),
    string("endpointSummary", "`healthy/all`, for the table."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr std::string_view kAliases[] = {"backends", "backend", "be"};
constexpr Column kColumns[] = {
    {"SERVICE", ".spec.serviceRef.name"},
    {"LB POLICY", ".spec.lbPolicy"},
    {"ENDPOINTS", ".status.endpointSummary"},
    {"READY", R"(.status.conditions[?(@.type=="Healthy")].status)"},
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: ProxyBackend
metadata:
  name: cart
  namespace: shop
spec:
  serviceRef:
    name: cart
    port: 8080
  lbPolicy: P2C
  timeout:
    connect: 1s
    idle: 90s
  healthCheck:
    interval: 10s
    timeout: 2s
    httpHealthCheck:
      path: /healthz
  circuitBreaker:
    consecutiveErrors: 10
    baseEjectionTime: 30s
  connectionLimits:
    maxConnections: 500
)";

}  // namespace

const Object kProxyBackend{kFields};
const Manifest kProxyBackendManifest{.text =
                                         "A service behind the proxy: how an endpoint is chosen, how its health is "
                                         "known, when it is left alone, and what is tried again.",
                                     .aliases = kAliases,
                                     .columns = kColumns,
                                     .status = &kStatus,
                                     .example = kExample};

}  // namespace edge::schemas
