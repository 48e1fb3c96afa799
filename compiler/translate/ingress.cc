#include "compiler/translate/ingress.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/translate/ingress_annotations.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

/// Where the gateways stand that are made for classes; VIPs of this namespace serve every gateway.
constexpr std::string_view kGatewaySpace = "edge-system";
constexpr std::string_view kClassKind = "IngressClass";
constexpr std::string_view kNetworkingGroup = "networking.k8s.io";

/// The requests that one path of an Ingress takes: host, type of the match, path.
using Traffic = std::tuple<std::string, model::PathType, std::string>;

struct IngressOfOurs {
  const model::Ingress* ingress;
  const model::IngressClass* ingress_class;
  IngressSettings settings;
};

/// Classes by name, the default one, and which are ours.
class Classes {
 public:
  Classes(const model::ResourceSet& resources, std::string_view controller, Diagnostics& diagnostics)
      : controller_(controller), diagnostics_(diagnostics) {
    for (const model::IngressClass& one : resources.ingress_classes) {
      by_name_.emplace(one.metadata.name, &one);
      if (!one.is_default) continue;
      const bool before = default_ == nullptr || std::tie(one.metadata.created, one.metadata.name) <
                                                     std::tie(default_->metadata.created, default_->metadata.name);
      if (before) default_ = &one;
    }
  }

  /// The class of an Ingress that is ours; nullptr: it is left to another controller.
  const model::IngressClass* of(const model::Ingress& ingress) {
    const model::IngressClass* found = default_;
    if (ingress.class_name) {
      const auto named = by_name_.find(ingress.class_name->value);
      found = named == by_name_.end() ? nullptr : named->second;
    }
    if (found != nullptr && found->controller.value == controller_) return found;
    const std::string name = ingress.class_name ? "`" + ingress.class_name->value + "`" : std::string();
    std::string message = "the IngressClass " + name + " is of another controller; the Ingress is left to it";
    if (found == nullptr) {
      message = name.empty() ? "the Ingress names no class and no IngressClass is the default; it is not served"
                             : "there is no IngressClass " + name + "; the Ingress is not served";
    }
    diagnostics_.add({.code = DiagnosticCode::kOtherClass,
                      .severity = found == nullptr ? Severity::kWarning : Severity::kNote,
                      .resource = ingress.metadata.text(),
                      .field = "spec.ingressClassName",
                      .span = ingress.class_name ? ingress.class_name->span : ingress.metadata.span,
                      .message = std::move(message),
                      .fix = found != nullptr
                                 ? std::string()
                                 : "add an IngressClass with `controller: " + std::string(controller_) + "`"});
    return nullptr;
  }

 private:
  std::string_view controller_;
  Diagnostics& diagnostics_;
  std::map<std::string_view, const model::IngressClass*> by_name_;
  const model::IngressClass* default_ = nullptr;
};

/// The ProxyGateway that serves a class; nothing: one is made for it.
std::optional<model::Reference> parameters_gateway(const model::IngressClass& ingress_class) {
  const auto& parameters = ingress_class.parameters;
  if (!parameters || parameters->group != schemas::kApiGroup || parameters->kind != "ProxyGateway") return std::nullopt;
  model::Reference gateway = parameters->to;
  if (gateway.name_space.empty()) gateway.name_space = kGatewaySpace;
  return gateway;
}

class IngressTranslator {
 public:
  IngressTranslator(const IngressOfOurs& from, ServiceBackends& backends, model::ResourceSet& made)
      : from_(from), ingress_(*from.ingress), backends_(backends), made_(made) {}

  /// `canaries`: backends with weights that go beside the own one of the same traffic.
  using Canaries = std::map<Traffic, std::vector<model::BackendRef>>;

  void run(const Canaries& canaries) {
    std::map<std::string, model::ProxyRoute> routes;  // by host
    for (std::size_t i = 0; i < ingress_.rules.size(); ++i) {
      const model::IngressRule& rule = ingress_.rules[i];
      model::ProxyRoute& route = route_of(rule.host, routes);
      for (std::size_t p = 0; p < rule.paths.size(); ++p) {
        route.rules.push_back(path(rule, i, p, canaries));
      }
      if (rule.paths.empty() && ingress_.default_backend) {
        route.rules.push_back(everything(*ingress_.default_backend));
      }
    }
    if (ingress_.default_backend) {
      route_of(std::nullopt, routes).rules.push_back(everything(*ingress_.default_backend));
    }
    for (auto& [host, route] : routes) finish(std::move(route));
  }

  /// Where the paths of a canary Ingress send their share.
  void collect_canaries(Canaries& canaries) {
    for (std::size_t i = 0; i < ingress_.rules.size(); ++i) {
      const model::IngressRule& rule = ingress_.rules[i];
      for (std::size_t p = 0; p < rule.paths.size(); ++p) {
        const auto condition = path_condition(rule.paths[p]);
        model::BackendRef ref = backend(rule.paths[p].backend, field_of(i, p));
        ref.weight = from_.settings.canary.weight;
        canaries[traffic(rule, condition)].push_back(std::move(ref));
      }
    }
  }

 private:
  static std::string field_of(std::size_t rule, std::size_t path) {
    return "spec.rules[" + std::to_string(rule) + "].http.paths[" + std::to_string(path) + "].backend";
  }

  static Traffic traffic(const model::IngressRule& rule, const model::PathCondition& path) {
    return {rule.host ? rule.host->value.text() : std::string(), path.type, path.value.value};
  }

  /// One route for each host: its name is the Ingress's, with the host where there are several.
  model::ProxyRoute& route_of(const model::Maybe<HostPattern>& host, std::map<std::string, model::ProxyRoute>& routes) {
    const std::string name = host ? host->value.text() : std::string();
    const auto [slot, added] = routes.try_emplace(name);
    model::ProxyRoute& route = slot->second;
    if (!added) return route;
    route.metadata = ingress_.metadata;
    route.metadata.name += ":" + (name.empty() ? std::string("*") : name);
    if (host) route.hostnames.push_back(*host);
    model::ParentRef parent{.gateway = {.name = {from_.ingress_class->metadata.name, ingress_.metadata.span},
                                        .name_space = std::string(kGatewaySpace)},
                            .kind = std::string(kClassKind)};
    if (const auto own = parameters_gateway(*from_.ingress_class)) {
      parent = {.gateway = *own};
      parent.gateway.name.span = ingress_.metadata.span;
    }
    route.parents.push_back(std::move(parent));
    return route;
  }

  model::PathCondition path_condition(const model::IngressPath& path) const {
    model::PathCondition condition{.type = model::PathType::kPrefix, .value = {"/", path.span}};
    if (path.path && !path.path->value.empty()) condition.value = *path.path;
    if (path.type.value == "Exact") condition.type = model::PathType::kExact;
    if (path.type.value == "ImplementationSpecific" && from_.settings.use_regex) {
      condition.type = model::PathType::kRegex;
      if (!condition.value.value.starts_with('^')) condition.value.value.insert(0, "^");
    }
    return condition;
  }

  model::Rule path(const model::IngressRule& rule, std::size_t index, std::size_t path_index,
                   const Canaries& canaries) {
    const model::IngressPath& path = rule.paths[path_index];
    const model::PathCondition condition = path_condition(path);
    model::Rule made{.span = path.span};
    made.matches.push_back({.span = path.span, .path = condition});
    model::BackendRef own = backend(path.backend, field_of(index, path_index));
    const Canary& canary = from_.settings.canary;
    if (canary.enabled && canary.header) {
      // More header matches go first (decision 81), so the canary needs no order of its own.
      made.matches[0].headers.push_back(
          {.name = *canary.header,
           .value = canary.header_value.value_or(Located<std::string>{"always", canary.header->span})});
    } else if (const auto found = canaries.find(traffic(rule, condition)); found != canaries.end()) {
      std::int64_t taken = 0;
      for (const model::BackendRef& share : found->second) {
        taken += share.weight->value;
        made.backends.push_back(share);
      }
      own.weight = Located<std::int64_t>{std::max<std::int64_t>(0, 100 - taken), path.span};
    }
    made.backends.insert(made.backends.begin(), std::move(own));
    settings(made, condition.type);
    return made;
  }

  model::Rule everything(const model::IngressBackend& to) {
    model::Rule made{.span = to.span};
    made.matches.push_back(
        {.span = to.span, .path = model::PathCondition{.type = model::PathType::kPrefix, .value = {"/", to.span}}});
    made.backends.push_back(backend(to, "spec.defaultBackend"));
    settings(made, model::PathType::kPrefix);
    return made;
  }

  model::BackendRef backend(const model::IngressBackend& to, const std::string& field) {
    if (to.resource) return backends_.refer(ingress_.metadata, *to.resource, field + ".resource");
    return backends_.refer(ingress_.metadata, {.name = *to.service}, to.port, field + ".service.port",
                           from_.settings.backend);
  }

  void settings(model::Rule& rule, model::PathType type) const {
    const IngressSettings& settings = from_.settings;
    rule.request_timeout = settings.request_timeout;
    rule.idle_timeout = settings.idle_timeout;
    rule.max_request_body = settings.max_body;
    rule.persistence = settings.persistence;
    if (!settings.rewrite_target && !settings.rewrite_host) return;
    model::Filter filter{.span = rule.span, .type = model::FilterType::kRewrite, .hostname = settings.rewrite_host};
    if (settings.rewrite_target) {
      const bool prefix = type == model::PathType::kPrefix;
      filter.path = model::PathChange{.type = prefix ? model::PathChangeType::kPrefix : model::PathChangeType::kFull,
                                      .value = *settings.rewrite_target};
    }
    rule.filters.push_back(std::move(filter));
  }

  void finish(model::ProxyRoute route) {
    int number = 0;
    for (model::ProxyPolicy policy : from_.settings.policies) {
      policy.metadata.name = route.metadata.name + ":" + std::to_string(number++);
      policy.target = {.name = {route.metadata.name, policy.type.span}};
      policy.target_resource = route.metadata.kind;
      made_.policies.push_back(std::move(policy));
    }
    made_.routes.push_back(std::move(route));
  }

  const IngressOfOurs& from_;
  const model::Ingress& ingress_;
  ServiceBackends& backends_;
  model::ResourceSet& made_;
};

/// The gateway of a class that names none: plain HTTP for every host, and HTTPS for each host with a certificate.
class ClassGateway {
 public:
  ClassGateway(const model::IngressClass& ingress_class, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    gateway_.metadata = ingress_class.metadata;
    gateway_.metadata.name_space = kGatewaySpace;
    add("http", 80, "HTTP", {}, ingress_class.metadata.span);
  }

  void certificates(const model::Ingress& ingress, model::ResourceSet& made) {
    for (const model::IngressTls& tls : ingress.tls) {
      if (!tls.secret) continue;
      const model::Reference secret{.name = *tls.secret, .name_space = ingress.metadata.name_space};
      if (tls.hosts.empty()) certificate(std::nullopt, secret, ingress, tls.span);
      for (const auto& host : tls.hosts) certificate(host, secret, ingress, tls.span);
      // An Ingress speaks for the secrets of its namespace.
      made.grants.push_back({.metadata = {.kind = "ReferenceGrant",
                                          .name_space = ingress.metadata.name_space,
                                          .name = ingress.metadata.name,
                                          .span = ingress.metadata.span},
                             .from = {{.group = std::string(kNetworkingGroup),
                                       .kind = std::string(kClassKind),
                                       .name_space = std::string(kGatewaySpace)}},
                             .to = {{.group = {}, .kind = "Secret", .name = tls.secret->value}}});
    }
  }

  /// Rule D9 for the hosts of the Ingress that have certificates. A request belongs to the listener with the most
  /// specific name, so each gets one of its own.
  void redirects(const model::Ingress& ingress, Span span) {
    for (const model::IngressTls& tls : ingress.tls) {
      if (!tls.secret) continue;
      if (tls.hosts.empty()) redirect(gateway_.listeners[0], span);
      for (const auto& host : tls.hosts) {
        const std::string name = "http:" + host.value.text();
        if (redirected_.insert(name).second) redirect(add(name, 80, "HTTP", host, host.span), span);
      }
    }
  }

  model::ProxyGateway take() { return std::move(gateway_); }

 private:
  model::Listener& add(std::string name, std::int64_t port, std::string protocol, const model::Maybe<HostPattern>& host,
                       Span span) {
    model::Listener listener{
        .span = span, .name = {std::move(name), span}, .port = {port, span}, .protocol = {std::move(protocol), span}};
    if (host) listener.hostnames.push_back(*host);
    listener.allowed_routes =
        model::AllowedRoutes{.from = model::AllowedRoutes::From::kAll,
                             .kinds = {{.group = std::string(kNetworkingGroup), .kind = "Ingress", .span = span}}};
    gateway_.listeners.push_back(std::move(listener));
    return gateway_.listeners.back();
  }

  static void redirect(model::Listener& listener, Span span) {
    listener.redirect_scheme = model::RedirectScheme{.span = span, .enabled = Located<bool>{true, span}};
  }

  void certificate(const model::Maybe<HostPattern>& host, const model::Reference& secret, const model::Ingress& ingress,
                   Span span) {
    const std::string name = host ? host->value.text() : std::string();
    const auto [held, added] = held_.try_emplace(name, Held{secret, span});
    if (added) {
      model::Listener& listener = add("https" + std::string(name.empty() ? "" : ":") + name, 443, "HTTPS", host, span);
      listener.tls = model::Tls{.span = span, .certificates = {secret}};
      return;
    }
    if (same(held->second.secret, secret)) return;
    diagnostics_.add({.code = DiagnosticCode::kConflict,
                      .severity = Severity::kWarning,
                      .resource = ingress.metadata.text(),
                      .field = "spec.tls",
                      .span = secret.name.span,
                      .message = (name.empty() ? "every host" : "`" + name + "`") +
                                 " already has a certificate; this one is left out",
                      .labels = {{held->second.secret.name.span, "the one that holds"}},
                      .notes = {"of two claims the older Ingress's holds"}});
  }

  struct Held {
    model::Reference secret;
    Span span;
  };

  Diagnostics& diagnostics_;
  model::ProxyGateway gateway_;
  std::map<std::string, Held> held_;
  std::set<std::string> redirected_;
};

/// A ProxyGateway that serves a class has listeners of its own.
void redirect_elsewhere(const IngressOfOurs& one, Diagnostics& diagnostics) {
  const auto& asked = one.settings.ssl_redirect;
  if (!asked || !asked->value) return;
  diagnostics.add({.code = DiagnosticCode::kInvalidAnnotation,
                   .severity = Severity::kWarning,
                   .resource = one.ingress->metadata.text(),
                   .field = "metadata.annotations." + std::string(schemas::kApiGroup) + "/ssl-redirect",
                   .span = asked->span,
                   .message = "a ProxyGateway serves the class of this Ingress, and decides itself what it redirects",
                   .fix = "set `redirectScheme` there"});
}

/// Older first, so that what they contend for does not depend on the order of files.
std::vector<IngressOfOurs> ingresses_of_ours(const model::ResourceSet& resources, Classes& classes,
                                             Diagnostics& diagnostics) {
  std::vector<const model::Ingress*> ordered;
  for (const model::Ingress& ingress : resources.ingresses) ordered.push_back(&ingress);
  std::sort(ordered.begin(), ordered.end(), [](const model::Ingress* a, const model::Ingress* b) {
    const auto key = [](const model::Metadata& m) { return std::tie(m.created, m.name_space, m.name, m.digest); };
    return key(a->metadata) < key(b->metadata);
  });
  std::vector<IngressOfOurs> ours;
  std::map<std::string, Span> seen;
  for (const model::Ingress* ingress : ordered) {
    const auto [first, added] = seen.emplace(ingress->metadata.text(), ingress->metadata.span);
    if (!added) {
      diagnostics.add({.code = DiagnosticCode::kDuplicateResource,
                       .resource = ingress->metadata.text(),
                       .field = "metadata.name",
                       .span = ingress->metadata.span,
                       .message = "the resource is given twice; this one is left out",
                       .labels = {{first->second, "first given here"}}});
      continue;
    }
    const model::IngressClass* ingress_class = classes.of(*ingress);
    if (ingress_class == nullptr) continue;
    ours.push_back({ingress, ingress_class, read_annotations(*ingress, diagnostics)});
  }
  return ours;
}

bool is_weighted_canary(const IngressOfOurs& one) {
  return one.settings.canary.enabled && !one.settings.canary.header && one.settings.canary.weight;
}

}  // namespace

bool concerns_others(const model::Ingress& ingress) {
  return !ingress.tls.empty() || std::ranges::any_of(ingress.annotations, [](const model::NameValue& annotation) {
    return annotation.name.value.find("canary") != std::string::npos;
  });
}

void translate_ingresses(const model::ResourceSet& resources, std::string_view controller,
                         const std::set<std::string>* wanted, ServiceBackends& backends, model::ResourceSet& made,
                         Diagnostics& diagnostics) {
  Classes classes(resources, controller, diagnostics);
  const std::vector<IngressOfOurs> ours = ingresses_of_ours(resources, classes, diagnostics);

  // Canaries take a share of the traffic of their namespace's other Ingresses.
  std::map<std::string, IngressTranslator::Canaries> canaries;
  for (const IngressOfOurs& one : ours) {
    if (!is_weighted_canary(one)) continue;
    IngressTranslator(one, backends, made).collect_canaries(canaries[one.ingress->metadata.name_space]);
  }
  std::map<std::string, ClassGateway> gateways;
  const IngressTranslator::Canaries none;
  for (const IngressOfOurs& one : ours) {
    const auto found = canaries.find(one.ingress->metadata.name_space);
    const bool makes_routes = wanted == nullptr || wanted->contains(one.ingress->metadata.text());
    if (makes_routes && !is_weighted_canary(one)) {
      IngressTranslator(one, backends, made).run(found == canaries.end() ? none : found->second);
    }
    if (parameters_gateway(*one.ingress_class)) {
      redirect_elsewhere(one, diagnostics);
      continue;
    }
    const auto [gateway, added] =
        gateways.try_emplace(one.ingress_class->metadata.name, *one.ingress_class, diagnostics);
    gateway->second.certificates(*one.ingress, made);
    const auto& redirected = one.settings.ssl_redirect;
    if (redirected && redirected->value) gateway->second.redirects(*one.ingress, redirected->span);
  }
  for (auto& [name, gateway] : gateways) made.gateways.push_back(gateway.take());
}

}  // namespace edge::compiler::translate
