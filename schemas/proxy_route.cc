#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kPathTypes[] = {"Exact", "PathPrefix", "RegularExpression"};
constexpr std::string_view kMatchTypes[] = {"Exact", "Present", "RegularExpression"};
constexpr std::string_view kQueryTypes[] = {"Exact", "Present", "RegularExpression"};
constexpr std::string_view kClaimTypes[] = {"Exact", "Present", "RegularExpression", "Contains"};
constexpr std::string_view kPathChanges[] = {"ReplacePrefixMatch", "ReplaceFullPath"};
constexpr std::string_view kRedirects[] = {"301", "302", "303", "307", "308"};
constexpr std::string_view kSchemes[] = {"http", "https"};
constexpr std::string_view kFilterTypes[] = {"RequestHeaderModifier", "ResponseHeaderModifier", "URLRewrite",
                                             "RequestRedirect", "RequestMirror"};
constexpr std::string_view kRetryOn[] = {
    "5xx", "reset", "connect-failure", "connection-failure", "retriable-4xx", "refused-stream", "429", "500", "502",
    "503", "504"};

constexpr Field kParentFields[] = {
    string("name", "Name of a ProxyGateway.").as(Format::kName).needed(),
    string("namespace", "Namespace of the gateway.").as(Format::kNamespace),
    string("sectionName", "Name of one listener of the gateway; all without it.").as(Format::kLabel),
    integer("port", "Port of the listeners meant.").within(1, 65535),
    string("kind", "ProxyGateway."),
    string("group", "Group of the gateway's kind.").one_of(kOwnGroup),
};
constexpr Object kParent{kParentFields};

constexpr Field kPathFields[] = {
    string("type", "How the value is compared.").one_of(kPathTypes).defaults_to("PathPrefix"),
    string("value", "Path, prefix or regular expression.").defaults_to("/"),
};
constexpr Object kPath{kPathFields};

constexpr Field kHeaderMatchFields[] = {
    string("name", "Name of the header.").as(Format::kHeaderName).needed(),
    string("value", "Value, or regular expression; none with Present.").as(Format::kHeaderValue),
    string("type", "How the value is compared.").one_of(kMatchTypes).defaults_to("Exact"),
};
constexpr Object kHeaderMatch{kHeaderMatchFields};

constexpr Field kQueryMatchFields[] = {
    string("name", "Key of the parameter.").needed(),
    string("value", "Value, or regular expression; none with Present."),
    string("type", "How the value is compared.").one_of(kQueryTypes).defaults_to("Exact"),
};
constexpr Object kQueryMatch{kQueryMatchFields};

constexpr Field kClaimMatchFields[] = {
    string("name", "Name of the claim; with dots, the way to one inside others.").needed(),
    string("value", "Value, regular expression, or with Contains an element of the claim; none with Present."),
    string("type", "How the value is compared.").one_of(kClaimTypes).defaults_to("Exact"),
};
constexpr Object kClaimMatch{kClaimMatchFields};

constexpr Field kMatchFields[] = {
    object("path", kPath, "Condition on the path."),
    objects("headers", kHeaderMatch, "Conditions on headers.").at_most(256),
    string("method", "The request's method.").as(Format::kMethod),
    objects("queryParams", kQueryMatch, "Conditions on query parameters.").at_most(256),
    objects("claims", kClaimMatch, "Conditions on claims of the token that the JWT policy of the listener verifies.")
        .at_most(64)
        .narrowing(),
};
constexpr Object kMatch{kMatchFields};

constexpr Field kHeaderFields[] = {
    string("name", "Name of the header.").as(Format::kHeaderName).needed(),
    string("value", "Its value; %REQ_ID% stands for the request's id.").as(Format::kHeaderValue).needed(),
};
constexpr Object kHeader{kHeaderFields};

constexpr Field kModifierFields[] = {
    objects("set", kHeader, "Headers that replace those of the same name."),
    objects("add", kHeader, "Headers that are added."),
    strings("remove", "Names of headers that are removed.").as(Format::kHeaderName),
};
constexpr Object kModifier{kModifierFields};

constexpr Field kPathChangeFields[] = {
    string("type", "What is replaced.").one_of(kPathChanges).needed(),
    string("replacePrefixMatch", "What stands in the place of the matched prefix.").with_type("ReplacePrefixMatch"),
    string("replaceFullPath", "What stands in the place of the path.").with_type("ReplaceFullPath"),
};
constexpr Object kPathChange{kPathChangeFields};

constexpr Field kRewriteFields[] = {
    string("hostname", "The Host that the backend sees.").as(Format::kHostname),
    object("path", kPathChange, "Change of the path."),
};
constexpr Object kRewrite{kRewriteFields};

constexpr Field kRedirectFields[] = {
    string("scheme", "Scheme of the new location.").one_of(kSchemes),
    string("hostname", "Host of the new location.").as(Format::kHostname),
    integer("port", "Port of the new location.").within(1, 65535),
    object("path", kPathChange, "Path of the new location."),
    integer("statusCode", "Status of the redirect.").one_of(kRedirects).defaults_to("302"),
};
constexpr Object kRedirect{kRedirectFields};

constexpr Field kBackendRefFields[] = {
    string("name", "Name of a ProxyBackend.").as(Format::kName).needed(),
    string("namespace", "Namespace of the backend.").as(Format::kNamespace),
    string("kind", "ProxyBackend."),
    string("group", "Group of the backend's kind.").one_of(kOwnGroup),
};
constexpr Object kBackendRef{kBackendRefFields};

constexpr Field kWeightedRefFields[] = {
    string("name", "Name of a ProxyBackend.").as(Format::kName).needed(),
    string("namespace", "Namespace of the backend.").as(Format::kNamespace),
    integer("weight", "Share of the traffic; 0 takes none (rule D3).").within(0, 1'000'000).defaults_to("1"),
    string("kind", "ProxyBackend."),
    string("group", "Group of the backend's kind.").one_of(kOwnGroup),
};
constexpr Object kWeightedRef{kWeightedRefFields};

constexpr std::string_view kBackendKind[] = {"ProxyBackend"};
constexpr Field kMirrorRefFields[] = {
    string("name", "Name of a ProxyBackend.").as(Format::kName).needed(),
    string("namespace", "Namespace of the backend.").as(Format::kNamespace),
    string("kind", "ProxyBackend.").one_of(kBackendKind),
    string("group", "Group of the backend's kind.").one_of(kOwnGroup),
};
constexpr Object kMirrorRef{kMirrorRefFields};

constexpr Field kFractionFields[] = {
    integer("numerator", "Requests that are copied.").within(0, 2'147'483'647).needed(),
    integer("denominator", "Of so many.").within(1, 2'147'483'647).defaults_to("100"),
};
constexpr Rule kFractionRules[] = {
    {"self.numerator <= (has(self.denominator) ? self.denominator : 100)", "numerator is larger than denominator"},
};
constexpr Object kFraction{.fields = kFractionFields, .rules = kFractionRules};
constexpr Field kMirrorFields[] = {
    object("backendRef", kMirrorRef, "Where copies of requests go.").needed(),
    integer("percent", "Percent of requests that are copied.").within(0, 100).defaults_to("100"),
    object("fraction", kFraction, "In place of percent: share of requests that are copied."),
};
constexpr Rule kMirrorRules[] = {
    {"!has(self.fraction) || !has(self.percent) || self.percent == 100", "percent and fraction exclude each other"},
};
constexpr Object kMirror{.fields = kMirrorFields, .rules = kMirrorRules};

constexpr Field kFilterFields[] = {
    string("type", "What the filter does.").one_of(kFilterTypes).needed(),
    object("requestHeaderModifier", kModifier, "Change of the request's headers (rule D11).")
        .with_type("RequestHeaderModifier"),
    object("responseHeaderModifier", kModifier, "Change of the response's headers.")
        .with_type("ResponseHeaderModifier"),
    object("urlRewrite", kRewrite, "Change of host and path.").with_type("URLRewrite"),
    object("requestRedirect", kRedirect, "Answer with another location.").with_type("RequestRedirect"),
    object("requestMirror", kMirror, "Copies of requests.").with_type("RequestMirror"),
};
constexpr Object kFilter{kFilterFields};

constexpr Field kRetryFields[] = {
    integer("maxRetries", "How often a request is tried again.").within(0, 100).defaults_to("1"),
    strings("retryOn", "What is tried again.").one_of(kRetryOn).defaults_to("[connect-failure, reset, refused-stream]"),
};
constexpr Object kRetry{kRetryFields};

constexpr Field kLimitFields[] = {
    string("requestTimeout", "Time for the whole request; none: no bound.").as(Format::kDuration),
    string("idleTimeout",
           "Time without a byte in either direction; none: no bound, but that a peer which takes nothing is given up "
           "after 60s.")
        .as(Format::kDuration),
    string("minGrpcTimeout", "Least time that a caller's `grpc-timeout` can ask for; none: every one holds.")
        .as(Format::kDuration),
    string("maxRequestBodySize", "Longest request body; the gateway's without it.").as(Format::kSize),
};
constexpr Object kLimits{kLimitFields};

constexpr Field kBufferingFields[] = {
    boolean("request", "Whether the request is read whole before it is forwarded.").defaults_to("false"),
    boolean("response", "Whether the response is read whole before it is sent.").defaults_to("false"),
    string("maxSize", "Longest body that is held.").as(Format::kSize),
};
constexpr Object kBuffering{kBufferingFields};

constexpr std::string_view kSessionTypes[] = {"Cookie", "Header"};
constexpr std::string_view kLifetimes[] = {"Session", "Permanent"};
constexpr Field kSessionCookieFields[] = {
    string("lifetimeType", "Whether the cookie ends with the browser's run, or with `absoluteTimeout`.")
        .one_of(kLifetimes)
        .defaults_to("Session"),
    string("path", "Path of the cookie; that which the rule's matches have in common without it."),
};
constexpr Object kSessionCookie{kSessionCookieFields};
constexpr Field kSessionFields[] = {
    string("sessionName", "Name of the cookie or header; one of the rule's own without it.").as(Format::kHeaderName),
    string("absoluteTimeout", "Longest time that a client stays with its endpoint; none: no bound.")
        .as(Format::kDuration),
    string("idleTimeout", "Time without a request after which it is let go; none: no bound.").as(Format::kDuration),
    string("type", "What carries the session.").one_of(kSessionTypes).defaults_to("Cookie"),
    object("cookieConfig", kSessionCookie, "How the cookie lives."),
};
constexpr Rule kSessionRules[] = {
    {"!has(self.cookieConfig) || !has(self.type) || self.type == 'Cookie'",
     "cookieConfig does not go with type Header"},
    {"!has(self.cookieConfig) || !has(self.cookieConfig.lifetimeType) || self.cookieConfig.lifetimeType != 'Permanent' "
     "|| has(self.absoluteTimeout)",
     "absoluteTimeout is required with lifetimeType Permanent"},
};
constexpr Object kSession{.fields = kSessionFields, .rules = kSessionRules};

constexpr Field kRuleFields[] = {
    string("name", "Name of the rule.").as(Format::kLabel),
    objects("matches", kMatch, "Any of them selects the rule; none: every request.").at_most(4096),
    objects("filters", kFilter, "What is done to requests and responses.").at_most(256),
    object("backendRef", kBackendRef, "The one backend.").or_as("spec.rules.backendRefs"),
    objects("backendRefs", kWeightedRef, "Backends with weights.").at_most(1024).or_as("spec.rules.backendRef"),
    object("retry", kRetry, "Retries; replaces the backend's retryPolicy whole."),
    object("limits", kLimits, "Limits of requests."),
    object("buffering", kBuffering, "Whether bodies are held (rule D7)."),
    object("sessionPersistence", kSession, "Requests of one client stay with one endpoint."),
};
// `namespace` is a word of CEL, hence its spelling. Costs are reckoned for the longest lists: no pass over them.
constexpr Rule kRuleRules[] = {
    {"!has(self.backendRef) || !has(self.backendRefs) || (size(self.backendRefs) == 1 && "
     "self.backendRefs[0].name == self.backendRef.name)",
     "backendRef and backendRefs are two forms of one setting, and say different things"},
    {"!has(self.backendRef) || !has(self.backendRefs) || size(self.backendRefs) != 1 || "
     "(has(self.backendRefs[0].__namespace__) == has(self.backendRef.__namespace__) && "
     "(!has(self.backendRef.__namespace__) || self.backendRefs[0].__namespace__ == self.backendRef.__namespace__))",
     "backendRef and backendRefs are two forms of one setting, and say different namespaces"},
};
constexpr Object kRule{.fields = kRuleFields, .rules = kRuleRules};

// A program counts rules and matches in 16 bits.
constexpr Field kSpecFields[] = {
    objects("parentRefs", kParent, "Gateways that the route attaches to.").at_most(256).needed(),
    strings("hostnames", "Names that the route serves; none: those of the listener (rule D2).")
        .as(Format::kHostname)
        .at_most(1024),
    string("expression", "Condition on every rule of the route (rule D5)."),
    objects("rules", kRule, "Rules (rule D1).").at_most(4096).needed(),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr Field kParentStatusFields[] = {
    string("gateway", "`namespace/name` of the gateway.").needed(),
    strings("listeners", "Listeners that serve the route."),
    kConditionsField,
};
constexpr Object kParentStatus{kParentStatusFields};
constexpr Field kStatusFields[] = {
    integer("ruleCount", "Rules, for the table.").within(0, kNoMaximum),
    objects("parents", kParentStatus, "State at each gateway.").at_most(256).keyed_by("gateway"),
    string("program", "Hash of the routing program that holds the route."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr std::string_view kAliases[] = {"routes", "route", "rt"};
constexpr Column kColumns[] = {
    {"HOSTNAMES", ".spec.hostnames"},
    {"RULES", ".status.ruleCount", ColumnType::kInteger},
    kReadyColumn,
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: ProxyRoute
metadata:
  name: cart
  namespace: shop
spec:
  parentRefs:
    - name: web
  hostnames: [shop.example.com]
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /cart
          headers:
            - name: X-Env
              value: preview
      backendRef:
        name: cart-next
    - matches:
        - path:
            type: PathPrefix
            value: /cart
      filters:
        - type: URLRewrite
          urlRewrite:
            path:
              type: ReplacePrefixMatch
              replacePrefixMatch: /
      backendRefs:
        - name: cart
          weight: 95
        - name: cart-next
          weight: 5
      retry:
        maxRetries: 2
        retryOn: [connect-failure, reset]
      limits:
        requestTimeout: 10s
)";

}  // namespace

const Object kProxyRoute{kFields};
const Manifest kProxyRouteManifest{.text =
                                       "Which requests go where: host names, rules of conditions, filters and "
                                       "backends. A route attaches to the listeners of its gateways.",
                                   .aliases = kAliases,
                                   .columns = kColumns,
                                   .status = &kStatus,
                                   .example = kExample};

}  // namespace edge::schemas
