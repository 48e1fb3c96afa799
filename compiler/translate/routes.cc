#include <algorithm>
#include <utility>

#include "compiler/translate/gateway_api.h"
#include "program/cluster_traffic.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

constexpr std::string_view kUnsupported = "UnsupportedValue";

std::string rule_field(std::size_t rule, std::string_view field) {
  return "spec.rules[" + std::to_string(rule) + "]." + std::string(field);
}

/// Text that a regular expression takes as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

bool same(const model::Cors& a, const model::Cors& b) {
  const auto texts = [](const model::Strings& strings) {
    std::vector<std::string_view> out;
    for (const auto& text : strings) out.push_back(text.value);
    return out;
  };
  const auto value = [](const auto& maybe) { return maybe ? std::optional(maybe->value) : std::nullopt; };
  return texts(a.allow_origins) == texts(b.allow_origins) && texts(a.allow_methods) == texts(b.allow_methods) &&
         texts(a.allow_headers) == texts(b.allow_headers) && texts(a.expose_headers) == texts(b.expose_headers) &&
         value(a.max_age) == value(b.max_age) && value(a.allow_credentials) == value(b.allow_credentials);
}

class RouteTranslator {
 public:
  RouteTranslator(const model::ApiRoute& route, const NamedPolicies& policies, ServiceBackends& backends,
                  Diagnostics& diagnostics)
      : route_(route), policies_(policies), backends_(backends), diagnostics_(diagnostics) {}

  model::ProxyRoute run() {
    made_.metadata = route_.metadata;
    made_.hostnames = route_.hostnames;
    for (std::size_t i = 0; i < route_.rules.size(); ++i) made_.rules.push_back(rule(i));
    // Gateway API fills in one rule that takes every path and has no backend.
    if (route_.rules.empty()) {
      made_.rules.push_back({.span = route_.metadata.span});
      default_path(made_.rules.back());
    }
    return std::move(made_);
  }

  /// The policies that the rules' ExternalAuth filters amount to, after run().
  std::vector<model::ProxyPolicy> external_auths() { return std::move(external_auths_); }

  /// The ProxyPolicies that filters of type ExtensionRef name, each on its rule, after run().
  std::vector<model::ProxyPolicy> extensions() { return std::move(extensions_); }

  /// The policies that the rules' CORS filters amount to: one for the route where all of its rules have the same, else
  /// one for each rule that has one.
  std::vector<model::ProxyPolicy> cors() const {
    const auto first = std::find_if(route_.rules.begin(), route_.rules.end(), [](const auto& r) { return r.cors; });
    if (first == route_.rules.end()) return {};
    const bool all = std::all_of(route_.rules.begin(), route_.rules.end(),
                                 [&](const model::ApiRule& r) { return r.cors && same(*r.cors, *first->cors); });
    if (all) return {cors_policy(*first, "cors")};
    std::vector<model::ProxyPolicy> policies;
    for (std::uint32_t i = 0; i < route_.rules.size(); ++i) {
      if (!route_.rules[i].cors) continue;
      policies.push_back(cors_policy(route_.rules[i], "cors-" + std::to_string(i)));
      policies.back().target_rule = i;
    }
    return policies;
  }

 private:
  model::ProxyPolicy cors_policy(const model::ApiRule& rule, const std::string& name) const {
    model::ProxyPolicy policy = filter_policy(model::PolicyType::kCors, rule.cors_span, name);
    policy.settings = *rule.cors;
    return policy;
  }

  model::ProxyPolicy filter_policy(model::PolicyType type, Span span, const std::string& name) const {
    model::ProxyPolicy policy{
        .metadata = route_.metadata, .type = {type, span}, .target = {.name = {route_.metadata.name, span}}};
    // No resource of Kubernetes has a `:` in its name, so no ProxyPolicy can be taken for it.
    policy.metadata.name += ":" + route_.metadata.kind + ":" + name;
    policy.target_resource = route_.metadata.kind;
    return policy;
  }

  void report(DiagnosticCode code, Severity severity, Span span, std::string field, std::string message) {
    diagnostics_.add({.code = code,
                      .severity = severity,
                      .resource = route_.metadata.text(),
                      .field = std::move(field),
                      .span = span,
                      .message = std::move(message)});
  }

  /// Accepted without a part of it: Gateway API's PartiallyInvalid.
  void unsupported(Span span, std::string field, const std::string& message) {
    report(DiagnosticCode::kNotServed, Severity::kWarning, span, std::move(field), message);
    made_.findings.push_back(
        {.type = "PartiallyInvalid", .status = true, .reason = std::string(kUnsupported), .message = message});
  }

  static void default_path(model::Rule& rule) {
    if (rule.matches.empty()) rule.matches.push_back({.span = rule.span});
    for (model::Match& match : rule.matches) {
      if (!match.path) match.path = model::PathCondition{.type = model::PathType::kPrefix, .value = {"/", match.span}};
    }
  }

  model::Rule rule(std::size_t index) {
    const model::ApiRule& from = route_.rules[index];
    model::Rule made = from.rule;
    for (std::size_t i = 0; i < from.calls.size(); ++i) made.matches.push_back(call(from.calls[i], index, i));
    if (route_.metadata.kind == "HTTPRoute") default_path(made);
    for (std::size_t i = 0; i < from.mirrors.size(); ++i) mirror(from.mirrors[i], index, made);
    for (std::size_t i = 0; i < from.backends.size(); ++i) backend(from, index, i, made);
    if (from.external_auth) external_auth(*from.external_auth, index, made);
    bool known = true;
    for (const model::ObjectRef& filter : from.extensions) known &= extension(filter, index, made);
    // Nothing answers in place of the 500.
    if (!known) std::erase_if(extensions_, [&](const auto& policy) { return policy.target_rule == index; });
    timeouts(from, made);
    return made;
  }

  /// A gRPC call is a POST to `/service/method`.
  model::Match call(const model::GrpcMatch& from, std::size_t rule, std::size_t index) {
    model::Match made{.span = from.span, .headers = from.headers};
    if (!from.service && !from.method) return made;
    const Located<std::string>& position = from.service ? *from.service : *from.method;
    const std::string service = from.service ? from.service->value : "";
    const std::string method = from.method ? from.method->value : "";
    if (!from.regex && (service.find('/') != std::string::npos || method.find('/') != std::string::npos)) {
      report(DiagnosticCode::kInvalidValue, Severity::kWarning, position.span,
             rule_field(rule, "matches[" + std::to_string(index) + "].method"),
             "the name of a service or method has no `/`: no call is matched");
    }
    if (!from.regex && from.service) {
      made.path = model::PathCondition{.type = from.method ? model::PathType::kExact : model::PathType::kPrefix,
                                       .value = {"/" + service + (from.method ? "/" + method : ""), position.span}};
      return made;
    }
    const auto part = [&](const std::string& text) {
      if (text.empty()) return std::string("[^/]+");
      return from.regex ? "(?:" + text + ")" : escaped(text);
    };
    made.path = model::PathCondition{.type = model::PathType::kRegex,
                                     .value = {"^/" + part(service) + "/" + part(method) + "$", position.span}};
    return made;
  }

  /// gRPC is spoken over HTTP/2, whatever the Service says of its port; a Service's ports of UDP are ports of their
  /// own.
  BackendOptions options(const model::ObjectRef& to) const {
    if (route_.metadata.kind == "UDPRoute") {
      return {.suffix = ":udp", .protocol = Located<std::string>{"UDP", to.to.name.span}};
    }
    return route_.metadata.kind == "GRPCRoute" ? grpc_options(to) : BackendOptions();
  }

  static BackendOptions grpc_options(const model::ObjectRef& to) {
    return {.suffix = ":grpc", .protocol = Located<std::string>{"GRPC", to.to.name.span}};
  }

  void mirror(const model::ApiMirror& from, std::size_t rule, model::Rule& made) {
    const std::string field = rule_field(rule, "filters");
    const model::BackendRef ref = backends_.refer(route_.metadata, from.ref, field, options(from.ref));
    if (!ref.unresolved.empty()) {
      made_.findings.push_back({.type = "ResolvedRefs",
                                .status = false,
                                .reason = ref.unresolved,
                                .message = "the mirror `" + from.ref.to.name.value + "` cannot be used"});
      return;
    }
    model::Filter filter{.span = from.span, .type = model::FilterType::kMirror, .mirror = ref.backend};
    filter.mirror_kind = ref.kind;
    filter.share = from.share;
    made.filters.push_back(std::move(filter));
  }

  void backend(const model::ApiRule& from, std::size_t rule, std::size_t index, model::Rule& made) {
    const model::ApiBackendRef& asked = from.backends[index];
    const std::string field = rule_field(rule, "backendRefs[" + std::to_string(index) + "]");
    model::BackendRef ref = backends_.refer(route_.metadata, asked.ref, field, options(asked.ref));
    ref.weight = asked.weight;
    if (asked.unknown_filter.somewhere()) {
      unsupported(asked.unknown_filter, field + ".filters",
                  "mirrors, CORS, ExternalAuth and extensions are no filters of one backend; its share of requests is "
                  "answered 500");
      ref.unresolved = kUnsupported;
    } else if (from.backends.size() == 1) {
      // Of the only backend they are the rule's.
      made.filters.insert(made.filters.end(), asked.filters.begin(), asked.filters.end());
    } else {
      ref.filters = asked.filters;
    }
    made.backends.push_back(std::move(ref));
  }

  /// A ProxyPolicy of the route's namespace: it applies to the rule. A filter that names anything else must not be
  /// skipped (Gateway API): the rule's requests are answered 500.
  bool extension(const model::ObjectRef& filter, std::size_t rule, model::Rule& made) {
    const std::string kind = filter.kind + (filter.group.empty() ? "" : "." + filter.group);
    if (filter.group != schemas::kApiGroup || filter.kind != "ProxyPolicy") {
      return refuse_filter(filter, rule, made, "InvalidKind",
                           "a filter of type ExtensionRef names a ProxyPolicy, and no " + kind,
                           "write `group: " + std::string(schemas::kApiGroup) + "` and `kind: ProxyPolicy`");
    }
    const auto found = policies_.find(resource_path(route_.metadata.name_space, filter.to.name.value));
    if (found == policies_.end()) {
      return refuse_filter(filter, rule, made, "ExtensionRefNotFound",
                           "the namespace `" + route_.metadata.name_space + "` has no ProxyPolicy `" +
                               filter.to.name.value + "` that filters may name",
                           "name a policy that has neither `targetRef` nor `targetRefs`");
    }
    model::ProxyPolicy& policy = extensions_.emplace_back(*found->second);
    const auto number = static_cast<std::uint32_t>(rule);
    policy.metadata.name = model::filter_policy_name(policy.metadata.name, route_.metadata, number);
    policy.target_kind = model::PolicyTarget::kRoute;
    policy.target_resource = route_.metadata.kind;
    policy.target = {.name = {route_.metadata.name, filter.to.name.span}};
    policy.target_field = rule_field(rule, "filters");
    policy.target_rule = number;
    policy.named_by_filter = true;
    return true;
  }

  bool refuse_filter(const model::ObjectRef& filter, std::size_t rule, model::Rule& made, const std::string& reason,
                     const std::string& message, std::string fix) {
    diagnostics_.add(
        {.code = reason == "InvalidKind" ? DiagnosticCode::kInvalidValue : DiagnosticCode::kUnknownReference,
         .resource = route_.metadata.text(),
         .field = rule_field(rule, "filters"),
         .span = filter.span,
         .message = message + "; requests of the rule are answered 500",
         .fix = std::move(fix)});
    made_.findings.push_back({.type = "ResolvedRefs", .status = false, .reason = reason, .message = message});
    answer_500(made, filter.span, reason);
    return false;
  }

  static void answer_500(model::Rule& made, Span span, std::string reason) {
    std::erase_if(made.filters, [](const model::Filter& f) { return f.type == model::FilterType::kRedirect; });
    made.backends = {{.backend = {.name = {"none", span}}, .unresolved = std::move(reason)}};
  }

  /// GEP-1494, by a policy of the rule. While the service cannot be asked the rule's requests are answered 500.
  void external_auth(const model::ApiExternalAuth& from, std::size_t rule, model::Rule& made) {
    const std::string field = rule_field(rule, "filters");
    if (route_.metadata.kind != "HTTPRoute") {
      const std::string message = "a " + route_.metadata.kind + " has no filter ExternalAuth";
      report(DiagnosticCode::kInvalidValue, Severity::kError, from.span, field,
             message + "; requests of the rule are answered 500");
      made_.findings.push_back(
          {.type = "Accepted", .status = false, .reason = std::string(kUnsupported), .message = message});
      return answer_500(made, from.span, std::string(kUnsupported));
    }
    const BackendOptions how = from.settings.grpc ? grpc_options(from.ref) : BackendOptions();
    const model::BackendRef ref = backends_.refer(route_.metadata, from.ref, field + ".externalAuth.backendRef", how);
    if (!ref.unresolved.empty()) {
      made_.findings.push_back(
          {.type = "ResolvedRefs",
           .status = false,
           .reason = ref.unresolved,
           .message = "the authorization service `" + from.ref.to.name.value + "` cannot be used"});
      return answer_500(made, from.span, ref.unresolved);
    }
    made.external_auth = ref;
    model::ProxyPolicy& policy = external_auths_.emplace_back(
        filter_policy(model::PolicyType::kForwardAuth, from.span, "external-auth-" + std::to_string(rule)));
    policy.target_rule = static_cast<std::uint32_t>(rule);
    model::ForwardAuth settings = from.settings;
    settings.backend = ref.backend;
    settings.backend_kind = ref.kind;
    policy.settings = std::move(settings);
  }

  static void timeouts(const model::ApiRule& from, model::Rule& made) {
    using std::chrono::nanoseconds;
    if (from.backend_timeout && from.backend_timeout->value != nanoseconds(0)) {
      // A request that is sent once is bounded by both.
      const bool shorter = !made.request_timeout || made.request_timeout->value == nanoseconds(0) ||
                           from.backend_timeout->value < made.request_timeout->value;
      if (!from.retry && shorter) made.request_timeout = from.backend_timeout;
    }
    if (!from.retry) return;
    model::Retry retry{.max_retries = from.retry->max_retries, .try_timeout = from.backend_timeout};
    const auto on = [&](std::string_view cause, Span span) {
      for (const Located<std::string>& present : retry.retry_on) {
        if (present.value == cause) return;
      }
      retry.retry_on.push_back({std::string(cause), span});
    };
    on("connect-failure", from.retry->span);
    on("reset", from.retry->span);
    for (const Located<std::int64_t>& code : from.retry->codes) {
      constexpr std::int64_t kByThemselves[] = {429, 500, 502, 503, 504};
      if (std::ranges::find(kByThemselves, code.value) != std::end(kByThemselves)) {
        on(std::to_string(code.value), code.span);
      } else if (code.value == 409) {
        on("retriable-4xx", code.span);
      } else if (std::ranges::find(retry.statuses, code.value) == retry.statuses.end()) {
        retry.statuses.push_back(code.value);
      }
    }
    std::ranges::sort(retry.statuses);
    retry.least_pause = from.retry->backoff;
    made.retry = std::move(retry);
  }

  const model::ApiRoute& route_;
  const NamedPolicies& policies_;
  ServiceBackends& backends_;
  Diagnostics& diagnostics_;
  model::ProxyRoute made_;
  std::vector<model::ProxyPolicy> external_auths_;
  std::vector<model::ProxyPolicy> extensions_;
};

/// A ListenerSet stands for its Gateway, and for those of its listeners that are its own.
void to_gateway(const model::ApiRoute& route, std::size_t index, const ListenerSetParents& sets,
                const OthersGateways& others, model::ParentRef& parent, Diagnostics& diagnostics) {
  const std::string& space = parent.gateway.name_space.empty() ? route.metadata.name_space : parent.gateway.name_space;
  const auto found = sets.find(space + "/" + parent.gateway.name.value);
  if (found == sets.end()) {
    diagnostics.add({.code = DiagnosticCode::kNotAttached,
                     .severity = Severity::kWarning,
                     .resource = route.metadata.text(),
                     .field = "spec.parentRefs[" + std::to_string(index) + "].name",
                     .span = parent.gateway.name.span,
                     .message = "there is no ListenerSet `" + parent.gateway.name.value + "` in the namespace `" +
                                space + "`; the route does not attach there"});
    return;
  }
  if (others.contains(found->second)) return;
  parent.kind = "Gateway";
  parent.listener_set = model::Reference{.name = parent.gateway.name, .name_space = space};
  const std::size_t slash = found->second.find('/');
  parent.gateway.name_space = found->second.substr(0, slash);
  parent.gateway.name.value = found->second.substr(slash + 1);
}

/// A parent that another controller serves has an empty kind: nothing is said about it.
std::vector<model::ParentRef> parents_of(const model::ApiRoute& route, const OthersGateways& others,
                                         const ListenerSetParents& sets, Diagnostics& diagnostics) {
  std::vector<model::ParentRef> parents;
  for (std::size_t i = 0; i < route.parent_refs.size(); ++i) {
    const model::ObjectRef& ref = route.parent_refs[i];
    model::ParentRef parent{.gateway = ref.to, .kind = {}, .section_name = route.section_names[i], .port = ref.port};
    const std::string& space = ref.to.name_space.empty() ? route.metadata.name_space : ref.to.name_space;
    if (ref.group == model::kGatewayApiGroup && ref.kind == "Gateway") {
      if (!others.contains(space + "/" + ref.to.name.value)) parent.kind = ref.kind;
    } else if (ref.group == model::kGatewayApiGroup && ref.kind == "ListenerSet") {
      to_gateway(route, i, sets, others, parent, diagnostics);
    } else if (ref.group == schemas::kApiGroup && ref.kind == "ProxyGateway") {
      parent.kind = ref.kind;
    } else {
      diagnostics.add({.code = DiagnosticCode::kNotServed,
                       .severity = Severity::kWarning,
                       .resource = route.metadata.text(),
                       .field = "spec.parentRefs[" + std::to_string(i) + "].kind",
                       .span = ref.kind_span,
                       .message = "a " + ref.kind + " of the group `" + ref.group + "` is no parent that is served"});
    }
    parents.push_back(std::move(parent));
  }
  return parents;
}

/// Serves each port of the Service to other clusters, which ask for it by number or name. What it has of clusterRefs
/// is of no matter here: a request that came from a cluster goes to no further one.
model::ProxyRoute translate_export(const model::ApiRoute& from, ServiceBackends& backends) {
  model::ProxyRoute made{.metadata = from.metadata};
  const Span span = from.metadata.span;
  const model::Service* const service = backends.find_service(from.metadata.name_space, from.metadata.name);
  if (service == nullptr) {
    made.findings.push_back({.type = "Valid",
                             .status = false,
                             .reason = "NoService",
                             .message = "there is no Service of this name; nothing is exported"});
    return made;
  }
  for (const model::ServicePort& port : service->ports) {
    model::Rule& rule = made.rules.emplace_back(model::Rule{.span = span});
    std::vector<std::string> names = {std::to_string(port.port)};
    if (!port.name.empty()) names.push_back(port.name);
    for (const std::string& name : names) {
      const std::string text = program::exported_service_text(from.metadata.name_space, from.metadata.name, name);
      rule.matches.push_back({.span = span,
                              .headers = {{.name = {std::string(program::kClusterServiceField), span},
                                           .value = {text, span},
                                           .type = model::ValueType::kExact}}});
    }
    // Of no use to the service, which may be open to others.
    rule.filters.push_back({.span = span,
                            .type = model::FilterType::kRequestHeaders,
                            .headers = {.remove = {{std::string(program::kClusterServiceField), span}}}});
    // The cluster that calls has its own limits.
    rule.max_request_body = Located<std::uint64_t>{0, span};
    const model::PortRef number{.number = port.port};
    rule.backends.push_back(
        backends.refer(from.metadata, from.rules.front().backends.front().ref.to, {number, span}, "metadata.name"));
  }
  made.findings.push_back(
      {.type = "Valid", .status = true, .reason = "Valid", .message = "other clusters may call the Service's ports"});
  return made;
}

}  // namespace

void translate_route(const model::ApiRoute& route, const OthersGateways& others, const ListenerSetParents& sets,
                     const NamedPolicies& policies, ServiceBackends& backends, model::ResourceSet& made,
                     Diagnostics& diagnostics) {
  if (route.metadata.kind == "ServiceExport") {
    made.routes.push_back(translate_export(route, backends));
    return;
  }
  std::vector<model::ParentRef> parents = parents_of(route, others, sets, diagnostics);
  const bool ours = std::any_of(parents.begin(), parents.end(), [](const auto& p) { return !p.kind.empty(); });
  if (!ours) return;
  RouteTranslator translator(route, policies, backends, diagnostics);
  model::ProxyRoute translated = translator.run();
  for (model::ProxyPolicy& policy : translator.cors()) made.policies.push_back(std::move(policy));
  for (model::ProxyPolicy& policy : translator.external_auths()) made.policies.push_back(std::move(policy));
  for (model::ProxyPolicy& policy : translator.extensions()) made.policies.push_back(std::move(policy));
  translated.parents = std::move(parents);
  made.routes.push_back(std::move(translated));
}

}  // namespace edge::compiler::translate
