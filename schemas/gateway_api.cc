// The kinds of Gateway API v1 that are read. Lenient: unknown fields of a later version are a warning, except where
// they select requests: without an unknown condition a rule would match more than it says.
#include "schemas/schema.h"

namespace edge::schemas {
namespace {

constexpr Object lenient(std::span<const Field> fields) { return {.fields = fields, .open = false, .lenient = true}; }

constexpr std::string_view kPathTypes[] = {"Exact", "PathPrefix", "RegularExpression"};
constexpr std::string_view kMatchTypes[] = {"Exact", "RegularExpression"};
constexpr std::string_view kPathChanges[] = {"ReplacePrefixMatch", "ReplaceFullPath"};
constexpr std::string_view kSchemes[] = {"http", "https"};
constexpr std::string_view kTlsModes[] = {"Terminate", "Passthrough"};
constexpr std::string_view kFrom[] = {"All", "Selector", "Same", "None"};
constexpr std::string_view kOperators[] = {"In", "NotIn", "Exists", "DoesNotExist"};
constexpr std::string_view kFilterTypes[] = {"RequestHeaderModifier",
                                             "ResponseHeaderModifier",
                                             "URLRewrite",
                                             "RequestRedirect",
                                             "RequestMirror",
                                             "CORS",
                                             "ExternalAuth",
                                             "ExtensionRef"};

// ---- Parts ----------------------------------------------------------------------------------------------------------

constexpr Field kObjectRefFields[] = {
    string("group", "Group of the kind; empty is the core group."),
    string("kind", "Kind that is referred to."),
    string("name", "Its name.").as(Format::kName).needed(),
    string("namespace", "Its namespace; the own without it.").as(Format::kNamespace),
};
constexpr Object kObjectReference = lenient(kObjectRefFields);

constexpr Field kParentFields[] = {
    string("group", "Group of the parent's kind.").defaults_to("gateway.networking.k8s.io"),
    string("kind", "Kind of the parent.").defaults_to("Gateway"),
    string("name", "Name of the parent.").as(Format::kName).needed(),
    string("namespace", "Namespace of the parent.").as(Format::kNamespace),
    string("sectionName", "Name of one listener; all without it.").as(Format::kName),
    integer("port", "Port of the listeners meant.").within(1, 65535),
};
constexpr Object kParent = lenient(kParentFields);
constexpr Field kParentRefs = objects("parentRefs", kParent, "What the route attaches to.").at_most(32);
constexpr Field kHostnames = strings("hostnames", "Names that the route serves.").as(Format::kHostname).at_most(1024);

constexpr Field kRequirementFields[] = {
    string("key", "Name of the label.").needed(),
    string("operator", "In, NotIn, Exists or DoesNotExist.").one_of(kOperators).needed(),
    strings("values", "Values of In and NotIn.").at_most(256),
};
constexpr Object kRequirement{kRequirementFields};
constexpr Field kSelectorFields[] = {
    string_map("matchLabels", "Labels that must be there."),
    objects("matchExpressions", kRequirement, "Conditions on labels.").at_most(64),
};
constexpr Object kSelector{kSelectorFields};

// ---- GatewayClass, Gateway ------------------------------------------------------------------------------------------

constexpr Field kClassSpecFields[] = {
    string("controllerName", "Controller of the class's gateways (rule D8).").needed(),
    object("parametersRef", kObjectReference, "Parameters of the controller."),
    string("description", "For people."),
};
constexpr Object kClassSpec = lenient(kClassSpecFields);
constexpr Field kClassFields[] = {
    object("spec", kClassSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kGatewayTlsFields[] = {
    string("mode", "Where TLS ends.").one_of(kTlsModes).defaults_to("Terminate"),
    objects("certificateRefs", kObjectReference, "Secrets with certificates.").at_most(64),
    string_map("options", "Options of implementations."),
};
constexpr Object kGatewayTls = lenient(kGatewayTlsFields);
constexpr Field kFromFields[] = {
    string("from", "Same, All, Selector or None.").one_of(kFrom).defaults_to("Same"),
    object("selector", kSelector, "Labels of the namespaces meant."),
};
constexpr Object kNamespaces = lenient(kFromFields);
constexpr Field kGroupKindFields[] = {
    string("group", "Group of the kind.").defaults_to("gateway.networking.k8s.io"),
    string("kind", "Kind of routes.").needed(),
};
constexpr Object kGroupKind = lenient(kGroupKindFields);
constexpr Field kAllowedFields[] = {
    object("namespaces", kNamespaces, "Namespaces whose routes may attach."),
    objects("kinds", kGroupKind, "Kinds of routes that may attach.").at_most(8),
};
constexpr Object kAllowedRoutes = lenient(kAllowedFields);
constexpr Field kListenerFields[] = {
    string("name", "Name of the listener.").as(Format::kName).needed(),
    string("hostname", "Name that the listener serves; every one without it.").as(Format::kHostname),
    integer("port", "Port.").within(1, 65535).needed(),
    string("protocol", "HTTP, HTTPS, TLS, TCP or UDP.").needed(),
    object("tls", kGatewayTls, "TLS settings."),
    object("allowedRoutes", kAllowedRoutes, "Whose routes may attach."),
};
constexpr Object kListener = lenient(kListenerFields);
constexpr Field kAddressFields[] = {
    string("type", "IPAddress, or " EDGE_API_GROUP "/vip with the name of a ProxyVIP.").defaults_to("IPAddress"),
    string("value", "The address; without it every address of the node."),
};
constexpr Object kAddress = lenient(kAddressFields);
constexpr Field kInfrastructureFields[] = {
    string_map("labels", "Labels of what is created."),
    string_map("annotations", "Annotations of what is created."),
    object("parametersRef", kObjectReference, "Parameters of the controller."),
};
constexpr Object kInfrastructure = lenient(kInfrastructureFields);
constexpr std::string_view kClientModes[] = {"AllowValidOnly", "AllowInsecureFallback"};
constexpr Field kClientValidationFields[] = {
    objects("caCertificateRefs", kObjectReference, "ConfigMaps or Secrets with a key ca.crt.").at_most(8).needed(),
    string("mode", "Whether clients without a certificate are served.")
        .one_of(kClientModes)
        .defaults_to("AllowValidOnly"),
};
constexpr Object kClientValidation{kClientValidationFields};
constexpr Field kFrontendConfigFields[] = {
    object("validation", kClientValidation, "Validation of client certificates."),
};
constexpr Object kFrontendConfig{kFrontendConfigFields};
constexpr Field kFrontendPortFields[] = {
    integer("port", "Port of the listeners meant.").within(1, 65535).needed(),
    object("tls", kFrontendConfig, "Settings of these listeners.").needed(),
};
constexpr Object kFrontendPort{kFrontendPortFields};
constexpr Field kFrontendFields[] = {
    object("default", kFrontendConfig, "Settings of every HTTPS listener.").needed(),
    objects("perPort", kFrontendPort, "Settings of one port, in place of the default.").at_most(64),
};
constexpr Object kFrontend{kFrontendFields};
constexpr Field kBackendSideFields[] = {
    object("clientCertificateRef", kObjectReference, "Certificate shown to backends."),
};
constexpr Object kBackendSide = lenient(kBackendSideFields);
constexpr Field kGatewayWideTlsFields[] = {
    object("frontend", kFrontend, "TLS with clients."),
    object("backend", kBackendSide, "TLS with backends."),
};
constexpr Object kGatewayWideTls{kGatewayWideTlsFields};
constexpr Field kListenerNamespacesFields[] = {
    string("from", "Same, All, Selector or None.").one_of(kFrom).defaults_to("None"),
    object("selector", kSelector, "Labels of the namespaces meant."),
};
constexpr Object kListenerNamespaces = lenient(kListenerNamespacesFields);
constexpr Field kAllowedListenersFields[] = {
    object("namespaces", kListenerNamespaces, "Namespaces whose ListenerSets may attach."),
};
constexpr Object kAllowedListeners = lenient(kAllowedListenersFields);
constexpr Field kGatewaySpecFields[] = {
    string("gatewayClassName", "Class of the gateway (rule D8).").as(Format::kName).needed(),
    objects("listeners", kListener, "Listeners.").at_most(64).needed(),
    object("allowedListeners", kAllowedListeners, "Whose ListenerSets may add listeners."),
    objects("addresses", kAddress, "Addresses that are asked for.").at_most(16),
    object("infrastructure", kInfrastructure, "Labels and annotations of what is created."),
    object("tls", kGatewayWideTls, "TLS of all listeners and backends."),
};
constexpr Object kGatewaySpec = lenient(kGatewaySpecFields);
constexpr Field kGatewayFields[] = {
    object("spec", kGatewaySpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kParentGatewayFields[] = {
    string("group", "Group of the parent's kind.").defaults_to("gateway.networking.k8s.io"),
    string("kind", "Kind of the parent.").defaults_to("Gateway"),
    string("name", "Name of the parent.").as(Format::kName).needed(),
    string("namespace", "Namespace of the parent; the own without it.").as(Format::kNamespace),
};
constexpr Object kParentGateway = lenient(kParentGatewayFields);
constexpr Field kListenerSetSpecFields[] = {
    object("parentRef", kParentGateway, "The Gateway that gets the listeners.").needed(),
    objects("listeners", kListener, "Listeners.").at_most(64).needed(),
};
constexpr Object kListenerSetSpec = lenient(kListenerSetSpecFields);
constexpr Field kListenerSetFields[] = {
    object("spec", kListenerSetSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

// ---- Rules ----------------------------------------------------------------------------------------------------------

constexpr Field kPathFields[] = {
    string("type", "How the value is compared.").one_of(kPathTypes).defaults_to("PathPrefix"),
    string("value", "Path, prefix or regular expression.").defaults_to("/"),
};
constexpr Object kPath{kPathFields};
constexpr Field kHeaderMatchFields[] = {
    string("name", "Name of the header.").as(Format::kHeaderName).needed(),
    string("value", "Value, or regular expression.").as(Format::kHeaderValue).needed(),
    string("type", "How the value is compared.").one_of(kMatchTypes).defaults_to("Exact"),
};
constexpr Object kHeaderMatch{kHeaderMatchFields};
constexpr Field kQueryMatchFields[] = {
    string("name", "Key of the parameter.").needed(),
    string("value", "Value, or regular expression.").needed(),
    string("type", "How the value is compared.").one_of(kMatchTypes).defaults_to("Exact"),
};
constexpr Object kQueryMatch{kQueryMatchFields};
constexpr Field kHttpMatchFields[] = {
    object("path", kPath, "Condition on the path."),
    objects("headers", kHeaderMatch, "Conditions on headers.").at_most(16),
    objects("queryParams", kQueryMatch, "Conditions on query parameters.").at_most(16),
    string("method", "The request's method.").as(Format::kMethod),
};
constexpr Object kHttpMatch{kHttpMatchFields};

constexpr Field kHeaderFields[] = {
    string("name", "Name of the header.").as(Format::kHeaderName).needed(),
    string("value", "Its value.").as(Format::kHeaderValue).needed(),
};
constexpr Object kHeader = lenient(kHeaderFields);
constexpr Field kModifierFields[] = {
    objects("set", kHeader, "Headers that replace those of the same name.").at_most(16),
    objects("add", kHeader, "Headers that are added.").at_most(16),
    strings("remove", "Names of headers that are removed.").as(Format::kHeaderName).at_most(16),
};
constexpr Object kModifier = lenient(kModifierFields);
constexpr Field kPathChangeFields[] = {
    string("type", "What is replaced.").one_of(kPathChanges).needed(),
    string("replacePrefixMatch", "What stands in the place of the matched prefix."),
    string("replaceFullPath", "What stands in the place of the path."),
};
constexpr Object kPathChange = lenient(kPathChangeFields);
constexpr Field kRewriteFields[] = {
    string("hostname", "The Host that the backend sees.").as(Format::kHostname),
    object("path", kPathChange, "Change of the path."),
};
constexpr Object kRewrite = lenient(kRewriteFields);
constexpr Field kRedirectFields[] = {
    string("scheme", "Scheme of the new location.").one_of(kSchemes),
    string("hostname", "Host of the new location.").as(Format::kHostname),
    integer("port", "Port of the new location.").within(1, 65535),
    object("path", kPathChange, "Path of the new location."),
    integer("statusCode", "301, 302, 303, 307 or 308.").within(301, 308).defaults_to("302"),
};
constexpr Object kRedirect = lenient(kRedirectFields);
constexpr Field kBackendRefFields[] = {
    string("group", "Group of the backend's kind; empty is the core group."),
    string("kind", "Service, or ProxyBackend of the group " EDGE_API_GROUP ".").defaults_to("Service"),
    string("name", "Name of the backend.").as(Format::kName).needed(),
    string("namespace", "Namespace of the backend.").as(Format::kNamespace),
    integer("port", "Port of the Service.").within(1, 65535),
};
constexpr Object kBackendRef = lenient(kBackendRefFields);
constexpr Field kFractionFields[] = {
    integer("numerator", "Requests that are copied.").within(0, 2'147'483'647).needed(),
    integer("denominator", "Of so many.").within(1, 2'147'483'647).defaults_to("100"),
};
constexpr Object kFraction = lenient(kFractionFields);
constexpr Field kMirrorFields[] = {
    object("backendRef", kBackendRef, "Where copies of requests go.").needed(),
    integer("percent", "Percent of requests that are copied.").within(0, 100),
    object("fraction", kFraction, "Share of requests that are copied."),
};
constexpr Object kMirror = lenient(kMirrorFields);
constexpr Field kCorsFields[] = {
    strings("allowOrigins", "Origins that may read answers.").at_most(64),
    boolean("allowCredentials", "Whether credentials are sent."),
    strings("allowMethods", "Methods that they may use.").as(Format::kMethod).at_most(16),
    strings("allowHeaders", "Headers that they may send.").as(Format::kHeaderName).at_most(64),
    strings("exposeHeaders", "Headers that they may read.").as(Format::kHeaderName).at_most(64),
    integer("maxAge", "Seconds that a preflight answer holds.").within(1, 2'147'483'647).defaults_to("5"),
};
constexpr Object kCors = lenient(kCorsFields);
constexpr std::string_view kAuthProtocols[] = {"HTTP", "GRPC"};
constexpr Field kHttpAuthFields[] = {
    string("path", "What stands before the path of the request that the service is sent."),
    strings("allowedHeaders", "Headers of the request that it is sent, beside Host, Content-Length and Authorization.")
        .as(Format::kHeaderName)
        .at_most(64),
    strings("allowedResponseHeaders", "Headers of its response that the backend is sent; all without it.")
        .as(Format::kHeaderName)
        .at_most(64),
};
constexpr Object kHttpAuth = lenient(kHttpAuthFields);
constexpr Field kGrpcAuthFields[] = {
    strings("allowedHeaders", "Headers of the request that the service is told; all without it.")
        .as(Format::kHeaderName)
        .at_most(64),
};
constexpr Object kGrpcAuth = lenient(kGrpcAuthFields);
constexpr Field kForwardBodyFields[] = {
    integer("maxSize", "Bytes of the largest body that is sent along; 0: none is.").within(0, 65535).defaults_to("0"),
};
constexpr Object kForwardBody = lenient(kForwardBodyFields);
constexpr Field kExternalAuthFields[] = {
    string("protocol", "What the service speaks.").one_of(kAuthProtocols).needed(),
    object("backendRef", kBackendRef, "Service that decides about requests.").needed(),
    object("http", kHttpAuth, "How a service of HTTP is asked."),
    object("grpc", kGrpcAuth, "How a service of Envoy's ext_authz protocol is asked."),
    object("forwardBody", kForwardBody, "Whether it is sent the request's body."),
};
constexpr Object kExternalAuth = lenient(kExternalAuthFields);
constexpr Field kFilterFields[] = {
    string("type", "What the filter does.").one_of(kFilterTypes).needed(),
    object("requestHeaderModifier", kModifier, "Change of the request's headers."),
    object("responseHeaderModifier", kModifier, "Change of the response's headers."),
    object("urlRewrite", kRewrite, "Change of host and path."),
    object("requestRedirect", kRedirect, "Answer with another location."),
    object("requestMirror", kMirror, "Copies of requests."),
    object("cors", kCors, "Answers to other origins."),
    object("externalAuth", kExternalAuth, "A service that decides about each request."),
    object("extensionRef", kObjectReference, "A filter of an implementation."),
};
constexpr Object kFilter = lenient(kFilterFields);

constexpr Field kWeightedFields[] = {
    string("group", "Group of the backend's kind; empty is the core group."),
    string("kind", "Service, or ProxyBackend of the group " EDGE_API_GROUP ".").defaults_to("Service"),
    string("name", "Name of the backend.").as(Format::kName).needed(),
    string("namespace", "Namespace of the backend.").as(Format::kNamespace),
    integer("port", "Port of the Service.").within(1, 65535),
    integer("weight", "Share of the traffic; 0 takes none.").within(0, 1'000'000).defaults_to("1"),
    objects("filters", kFilter, "What is done to requests of this backend alone.").at_most(16),
};
constexpr Object kWeighted = lenient(kWeightedFields);
constexpr Field kBackendRefs = objects("backendRefs", kWeighted, "Where requests go.").at_most(64);

constexpr Field kTimeoutFields[] = {
    string("request", "Time for the whole request; 0s: no bound.").as(Format::kDuration),
    string("backendRequest", "Time for one try; 0s: no bound.").as(Format::kDuration),
};
constexpr Object kTimeouts = lenient(kTimeoutFields);
constexpr Field kRetryFields[] = {
    integers("codes", "Statuses that are tried again.").within(400, 599).at_most(64),
    integer("attempts", "How often a request is tried again.").within(0, 100),
    string("backoff", "Least time between two tries.").as(Format::kDuration),
};
constexpr Object kRetry = lenient(kRetryFields);

constexpr std::string_view kSessionTypes[] = {"Cookie", "Header"};
constexpr std::string_view kLifetimes[] = {"Session", "Permanent"};
constexpr Field kSessionCookieFields[] = {
    string("lifetimeType", "Whether the cookie ends with the browser's run, or with `absoluteTimeout`.")
        .one_of(kLifetimes)
        .defaults_to("Session"),
};
constexpr Object kSessionCookie = lenient(kSessionCookieFields);
constexpr Field kSessionFields[] = {
    string("sessionName", "Name of the cookie or header; one of the rule's own without it.").as(Format::kHeaderName),
    string("absoluteTimeout", "Longest time that a client stays with its endpoint.").as(Format::kDuration),
    string("idleTimeout", "Time without a request after which it is let go.").as(Format::kDuration),
    string("type", "What carries the session.").one_of(kSessionTypes).defaults_to("Cookie"),
    object("cookieConfig", kSessionCookie, "How the cookie lives."),
};
constexpr Object kSession = lenient(kSessionFields);

constexpr Field kHttpRuleFields[] = {
    string("name", "Name of the rule.").as(Format::kName),
    objects("matches", kHttpMatch, "Any of them selects the rule; none: every request.").at_most(64),
    objects("filters", kFilter, "What is done to requests and responses.").at_most(16),
    kBackendRefs,
    object("timeouts", kTimeouts, "Bounds of time."),
    object("retry", kRetry, "Retries."),
    object("sessionPersistence", kSession, "Requests of one client stay with one endpoint."),
};
constexpr Object kHttpRule = lenient(kHttpRuleFields);
constexpr Field kHttpSpecFields[] = {kParentRefs, kHostnames, objects("rules", kHttpRule, "Rules.").at_most(64)};
constexpr Object kHttpSpec = lenient(kHttpSpecFields);
constexpr Field kHttpRouteFields[] = {
    object("spec", kHttpSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kCallFields[] = {
    string("type", "How the values are compared.").one_of(kMatchTypes).defaults_to("Exact"),
    string("service", "Name of the service, with its package."),
    string("method", "Name of the method."),
};
constexpr Object kCall{kCallFields};
constexpr Field kGrpcMatchFields[] = {
    object("method", kCall, "Condition on the call."),
    objects("headers", kHeaderMatch, "Conditions on headers.").at_most(16),
};
constexpr Object kGrpcMatch{kGrpcMatchFields};
constexpr Field kGrpcRuleFields[] = {
    string("name", "Name of the rule.").as(Format::kName),
    objects("matches", kGrpcMatch, "Any of them selects the rule; none: every call.").at_most(64),
    objects("filters", kFilter, "What is done to requests and responses.").at_most(16),
    kBackendRefs,
    object("sessionPersistence", kSession, "Requests of one client stay with one endpoint."),
};
constexpr Object kGrpcRule = lenient(kGrpcRuleFields);
constexpr Field kGrpcSpecFields[] = {kParentRefs, kHostnames, objects("rules", kGrpcRule, "Rules.").at_most(64)};
constexpr Object kGrpcSpec = lenient(kGrpcSpecFields);
constexpr Field kGrpcRouteFields[] = {
    object("spec", kGrpcSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kTcpRuleFields[] = {string("name", "Name of the rule.").as(Format::kName), kBackendRefs};
constexpr Object kTcpRule = lenient(kTcpRuleFields);
constexpr Field kTcpSpecFields[] = {kParentRefs, objects("rules", kTcpRule, "Rules.").at_most(16).needed()};
constexpr Object kTcpSpec = lenient(kTcpSpecFields);
constexpr Field kTcpRouteFields[] = {
    object("spec", kTcpSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};
constexpr Field kTlsSpecFields[] = {kParentRefs, kHostnames, objects("rules", kTcpRule, "Rules.").at_most(16).needed()};
constexpr Object kTlsSpec = lenient(kTlsSpecFields);
constexpr Field kTlsRouteFields[] = {
    object("spec", kTlsSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kUdpRouteFields[] = {
    object("spec", kTcpSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

// ---- BackendTLSPolicy -----------------------------------------------------------------------------------------------

constexpr Field kTargetFields[] = {
    string("group", "Group of the target's kind; empty is the core group.").needed(),
    string("kind", "Service.").needed(),
    string("name", "Name of the target.").as(Format::kName).needed(),
    string("sectionName", "Name of one port; all without it.").as(Format::kName),
};
constexpr Object kTarget = lenient(kTargetFields);
constexpr std::string_view kWellKnown[] = {"System"};
// What is asked of a name is asked where it is used: a policy that were refused for it would leave its Service without
// TLS.
constexpr Field kSubjectNameFields[] = {
    string("type", "Hostname or URI."),
    string("hostname", "A DNS name."),
    string("uri", "A URI, as a SPIFFE identity is."),
};
constexpr Object kSubjectName = lenient(kSubjectNameFields);
constexpr Field kValidationFields[] = {
    objects("caCertificateRefs", kObjectReference, "ConfigMaps or Secrets with a key ca.crt.").at_most(8),
    string("wellKnownCACertificates", "System: the authorities of the host.").one_of(kWellKnown),
    string("hostname", "SNI, and the name in the certificate.").as(Format::kHostname).needed(),
    objects("subjectAltNames", kSubjectName, "Names of which the certificate has one, in the place of hostname."),
};
constexpr Object kValidation = lenient(kValidationFields);
constexpr Field kTlsPolicySpecFields[] = {
    objects("targetRefs", kTarget, "Services that are called over TLS.").at_most(16).needed(),
    object("validation", kValidation, "How their certificates are checked.").needed(),
    string_map("options", "Options of implementations."),
};
constexpr Object kTlsPolicySpec = lenient(kTlsPolicySpecFields);
constexpr Field kTlsPolicyFields[] = {
    object("spec", kTlsPolicySpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

}  // namespace

const Object kGatewayClass = lenient(kClassFields);
const Object kGateway = lenient(kGatewayFields);
const Object kListenerSet = lenient(kListenerSetFields);
const Object kHttpRoute = lenient(kHttpRouteFields);
const Object kGrpcRoute = lenient(kGrpcRouteFields);
const Object kTlsRoute = lenient(kTlsRouteFields);
const Object kTcpRoute = lenient(kTcpRouteFields);
const Object kUdpRoute = lenient(kUdpRouteFields);
const Object kBackendTlsPolicy = lenient(kTlsPolicyFields);

}  // namespace edge::schemas
