#include "compiler/translate/ingress.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/translate/class_gateway.h"
#include "compiler/translate/ingress_annotations.h"
#include "compiler/translate/nginx_rewrite.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

/// The requests that one path of an Ingress takes: host, type of the match, path.
using Traffic = std::tuple<std::string, model::PathType, std::string>;

/// Names of hosts, empty for every host.
using Hosts = std::set<std::string>;

bool chosen_by_field(const Canary& canary) { return canary.header || canary.cookie; }

struct IngressOfOurs {
  const model::Ingress* ingress;
  const model::IngressClass* ingress_class;
  IngressSettings settings;
};

bool names_gateway(const model::ObjectRef& parameters) {
  return parameters.group == schemas::kApiGroup && parameters.kind == "ProxyGateway";
}

/// What they would ask for may be what protects its Ingresses.
bool asks_for_foreign_parameters(const model::IngressClass& ingress_class) {
  return ingress_class.parameters && !names_gateway(*ingress_class.parameters);
}

/// IngressClasses by name, the default one, and those that this controller serves.
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
    const bool ours = found != nullptr && found->controller.value == controller_;
    if (ours && !asks_for_foreign_parameters(*found)) return found;
    if (ours) {
      tell(ingress, Severity::kWarning,
           "the IngressClass `" + found->metadata.name + "` asks for parameters of the kind " +
               found->parameters->kind + " of the group `" + found->parameters->group +
               "`, which are not read; the Ingress is not served",
           "name a ProxyGateway of the group `" + std::string(schemas::kApiGroup) + "` in its `spec.parameters`");
      return nullptr;
    }
    const std::string name = ingress.class_name ? "`" + ingress.class_name->value + "`" : std::string();
    std::string message = "the IngressClass " + name + " is of another controller; the Ingress is left to it";
    if (found == nullptr) {
      message = name.empty() ? "the Ingress names no class and no IngressClass is the default; it is not served"
                             : "there is no IngressClass " + name + "; the Ingress is not served";
    }
    tell(ingress, found == nullptr ? Severity::kWarning : Severity::kNote, std::move(message),
         found != nullptr ? std::string() : "add an IngressClass with `controller: " + std::string(controller_) + "`");
    return nullptr;
  }

 private:
  void tell(const model::Ingress& ingress, Severity severity, std::string message, std::string fix) {
    diagnostics_.add({.code = DiagnosticCode::kOtherClass,
                      .severity = severity,
                      .resource = ingress.metadata.text(),
                      .field = "spec.ingressClassName",
                      .span = ingress.class_name ? ingress.class_name->span : ingress.metadata.span,
                      .message = std::move(message),
                      .fix = std::move(fix)});
  }

  std::string_view controller_;
  Diagnostics& diagnostics_;
  std::map<std::string_view, const model::IngressClass*> by_name_;
  const model::IngressClass* default_ = nullptr;
};

/// The ProxyGateway that serves a class; nothing: one is made for it.
std::optional<model::Reference> parameters_gateway(const model::IngressClass& ingress_class) {
  const auto& parameters = ingress_class.parameters;
  if (!parameters || !names_gateway(*parameters)) return std::nullopt;
  model::Reference gateway = parameters->to;
  if (gateway.name_space.empty()) gateway.name_space = kGatewaySpace;
  return gateway;
}

class IngressTranslator {
 public:
  /// `regex_hosts`: those whose paths are all expressions (IngressSettings::regex_hosts).
  IngressTranslator(const IngressOfOurs& from, const Hosts& regex_hosts, ServiceBackends& backends,
                    model::ResourceSet& made)
      : from_(from), ingress_(*from.ingress), regex_hosts_(regex_hosts), backends_(backends), made_(made) {}

  /// A backend that takes a part of the requests of other Ingresses' traffic.
  struct Share {
    model::BackendRef backend;
    const Canary* canary;
  };
  using Canaries = std::map<Traffic, std::vector<Share>>;

  void run(const Canaries& canaries, const Hosts& hosts) {
    std::map<std::string, model::ProxyRoute> routes;  // by host
    for (std::size_t i = 0; i < ingress_.rules.size(); ++i) {
      const model::IngressRule& rule = ingress_.rules[i];
      model::ProxyRoute& route = route_of(rule.host, routes);
      for (std::size_t p = 0; p < rule.paths.size(); ++p) {
        add_path(route, rule, i, p, canaries);
      }
      if (rule.paths.empty() && ingress_.default_backend) {
        route.rules.push_back(everything(*ingress_.default_backend));
      }
    }
    if (ingress_.default_backend) {
      route_of(std::nullopt, routes).rules.push_back(everything(*ingress_.default_backend));
    }
    add_aliases(routes, hosts);
    for (auto& [host, route] : routes) {
      add_app_root(route);
      add_www_redirect(route, hosts);
      finish(std::move(route));
    }
  }

  /// Where the paths of a canary Ingress send their share.
  void collect_canaries(Canaries& canaries) {
    for (std::size_t i = 0; i < ingress_.rules.size(); ++i) {
      const model::IngressRule& rule = ingress_.rules[i];
      for (std::size_t p = 0; p < rule.paths.size(); ++p) {
        const auto condition = path_condition(rule.paths[p], rule);
        model::BackendRef ref = backend(rule.paths[p].backend, field_of(i, p));
        ref.weight = from_.settings.canary.weight;
        canaries[traffic(rule, condition)].push_back({std::move(ref), &from_.settings.canary});
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

  /// `(/|$)` stands within the usual expressions of ingress-nginx, and the matcher knows `$` at the end alone. What is
  /// put in its place matches the same paths, and is as long: by that expressions are ordered.
  static void to_end_anchor(std::string& expression) {
    for (const std::string_view tail : {"(/|$)(.*)$", "(/|$)(.*)", "(/|$)"}) {
      if (!expression.ends_with(tail)) continue;
      expression.replace(expression.size() - tail.size(), tail.size(), "(/(.*)|)$");
      return;
    }
  }

  model::PathCondition path_condition(const model::IngressPath& path, const model::IngressRule& rule) const {
    model::PathCondition condition{.type = model::PathType::kPrefix, .value = {"/", path.span}};
    if (path.path && !path.path->value.empty()) condition.value = *path.path;
    if (regex_hosts_.contains(rule.host ? rule.host->value.text() : std::string())) {
      condition.type = model::PathType::kRegex;
      std::string& expression = condition.value.value;
      to_end_anchor(expression);
      expression.insert(0, expression.starts_with('^') ? "(?i)" : "(?i)^");
      return condition;
    }
    if (path.type.value == "Exact") condition.type = model::PathType::kExact;
    if (path.type.value == "ImplementationSpecific" && from_.settings.use_regex) {
      condition.type = model::PathType::kRegex;
      if (!condition.value.value.starts_with('^')) condition.value.value.insert(0, "^");
    }
    return condition;
  }

  /// The rule of one path; behind the rules of the canaries that a field of the request chooses. Those have all that
  /// this Ingress asks for: a canary of a protected path is protected.
  void add_path(model::ProxyRoute& route, const model::IngressRule& rule, std::size_t index, std::size_t path_index,
                const Canaries& canaries) {
    const model::IngressPath& path = rule.paths[path_index];
    const model::PathCondition condition = path_condition(path, rule);
    model::Rule made{.span = path.span};
    made.matches.push_back({.span = path.span, .path = condition});
    settings(made, condition, path);
    model::BackendRef own = backend(path.backend, field_of(index, path_index));
    const auto found = canaries.find(traffic(rule, condition));
    if (!settings_of().redirect && found != canaries.end()) {
      for (const Share& share : found->second) add_chosen(route, made, *share.canary, share.backend, own);
      weigh(made, found->second, own, path.span);
    } else if (const Canary& canary = settings_of().canary; canary.enabled && chosen_by_field(canary)) {
      // A canary of nothing: nobody else serves its traffic.
      add_chosen(route, made, canary, own, std::nullopt);
      return;
    }
    if (!settings_of().redirect) made.backends.insert(made.backends.begin(), std::move(own));
    route.rules.push_back(std::move(made));
  }

  static void weigh(model::Rule& made, const std::vector<Share>& shares, model::BackendRef& own, Span span) {
    std::int64_t taken = 0;
    std::int64_t total = 0;
    for (const Share& share : shares) {
      if (!share.backend.weight) continue;
      taken += share.backend.weight->value;
      total = std::max(total, share.canary->weight_total);
      made.backends.push_back(share.backend);
    }
    if (total != 0) own.weight = Located<std::int64_t>{std::max<std::int64_t>(0, total - taken), span};
  }

  /// More header matches go first (decision 81), and of equals the rule that is written first: the header before the
  /// cookie.
  static void add_chosen(model::ProxyRoute& route, const model::Rule& like, const Canary& canary,
                         model::BackendRef there, const std::optional<model::BackendRef>& here) {
    there.weight.reset();
    const auto add = [&](const model::BackendRef& backend, const Located<std::string>& name, std::string value,
                         model::ValueType type) {
      model::Rule made = like;
      made.matches[0].headers.push_back({.name = name, .value = {std::move(value), name.span}, .type = type});
      made.backends.push_back(backend);
      route.rules.push_back(std::move(made));
    };
    if (canary.header && canary.header_pattern) {
      add(there, *canary.header, canary.header_pattern->value, model::ValueType::kRegex);
    } else if (canary.header) {
      add(there, *canary.header, canary.header_value ? canary.header_value->value : "always", model::ValueType::kExact);
      if (!canary.header_value && here) add(*here, *canary.header, "never", model::ValueType::kExact);
    }
    if (!canary.cookie) return;
    const Located<std::string> field{"Cookie", canary.cookie->span};
    const auto cookie = [&](std::string_view value) {
      std::string text = "(^|; *)";
      for (const char c : canary.cookie->value) {
        if (std::string_view("$*+.^|").find(c) != std::string_view::npos) text += '\\';
        text += c;
      }
      return text + "=" + std::string(value) + "(;|$)";
    };
    add(there, field, cookie("always"), model::ValueType::kRegex);
    if (here) add(*here, field, cookie("never"), model::ValueType::kRegex);
  }

  model::Rule everything(const model::IngressBackend& to) {
    model::Rule made{.span = to.span};
    made.matches.push_back(
        {.span = to.span, .path = model::PathCondition{.type = model::PathType::kPrefix, .value = {"/", to.span}}});
    settings(made, *made.matches[0].path, {});
    if (!settings_of().redirect) made.backends.push_back(backend(to, "spec.defaultBackend"));
    return made;
  }

  model::BackendRef backend(const model::IngressBackend& to, const std::string& field) {
    if (to.resource) return backends_.refer(ingress_.metadata, *to.resource, field + ".resource");
    return backends_.refer(ingress_.metadata, {.name = *to.service}, to.port, field + ".service.port",
                           from_.settings.backend);
  }

  const IngressSettings& settings_of() const { return from_.settings; }

  void settings(model::Rule& rule, const model::PathCondition& condition, const model::IngressPath& path) const {
    const IngressSettings& settings = from_.settings;
    rule.request_timeout = settings.request_timeout;
    rule.idle_timeout = settings.idle_timeout;
    rule.max_request_body = settings.max_body;
    rule.persistence = settings.persistence;
    rule.retry = settings.retry;
    if (settings.redirect) {
      rule.filters.push_back(*settings.redirect);
      return;
    }
    if (!settings.request_headers.empty()) {
      model::Filter fields{.span = rule.span, .type = model::FilterType::kRequestHeaders};
      fields.headers.set = settings.request_headers;
      rule.filters.push_back(std::move(fields));
    }
    std::optional<model::PathChange> change;
    if (settings.rewrite_target) {
      const bool prefix = condition.type == model::PathType::kPrefix;
      change = model::PathChange{.type = prefix ? model::PathChangeType::kPrefix : model::PathChangeType::kFull,
                                 .value = *settings.rewrite_target};
    } else if (settings.nginx_rewrite) {
      change = rewrite(*settings.nginx_rewrite, path);
    }
    if (!change && !settings.rewrite_host) return;
    rule.filters.push_back({.span = rule.span,
                            .type = model::FilterType::kRewrite,
                            .hostname = settings.rewrite_host,
                            .path = std::move(change)});
  }

  /// One that cannot be made was reported, and the route is denied.
  static std::optional<model::PathChange> rewrite(const Located<std::string>& target, const model::IngressPath& path) {
    const auto made = nginx_rewrite(path.path ? path.path->value : "/", target.value);
    if (!made) return std::nullopt;
    model::PathChange change{.type = made->prefix ? model::PathChangeType::kPrefix : model::PathChangeType::kFull,
                             .value = {made->value, target.span}};
    if (made->prefix) change.prefix_length = made->prefix_length;
    return change;
  }

  /// The first route of the Ingress has the other names, but for those that are another rule's.
  void add_aliases(std::map<std::string, model::ProxyRoute>& routes, const Hosts& hosts) const {
    const auto named = std::ranges::find_if(routes, [](const auto& route) { return !route.first.empty(); });
    if (named == routes.end()) return;
    for (const Located<HostPattern>& alias : settings_of().aliases) {
      if (!hosts.contains(alias.value.text())) named->second.hostnames.push_back(alias);
    }
  }

  void add_app_root(model::ProxyRoute& route) const {
    const auto& root = settings_of().app_root;
    if (!root) return;
    model::Rule made{.span = root->span};
    made.matches.push_back({.span = root->span,
                            .path = model::PathCondition{.type = model::PathType::kExact, .value = {"/", root->span}}});
    made.filters.push_back({.span = root->span,
                            .type = model::FilterType::kRedirect,
                            .path = model::PathChange{.type = model::PathChangeType::kFull, .value = *root},
                            .status = Located<std::int64_t>{302, root->span}});
    route.rules.insert(route.rules.begin(), std::move(made));
  }

  /// A route of its own for the other name. It protects nothing, and needs no policy.
  void add_www_redirect(const model::ProxyRoute& route, const Hosts& hosts) {
    if (!settings_of().www_redirect || route.hostnames.empty() || route.hostnames[0].value.wildcard()) return;
    const Located<HostPattern>& host = route.hostnames[0];
    const std::string name = host.value.text();
    const std::string other = name.starts_with("www.") ? name.substr(4) : "www." + name;
    const auto pattern = HostPattern::parse(other);
    if (!pattern || hosts.contains(other)) return;
    model::ProxyRoute made{.metadata = route.metadata, .parents = route.parents};
    made.metadata.name = ingress_.metadata.name + ":" + other;
    made.hostnames.push_back({*pattern, host.span});
    model::Rule rule{.span = host.span};
    rule.matches.push_back(
        {.span = host.span, .path = model::PathCondition{.type = model::PathType::kPrefix, .value = {"/", host.span}}});
    rule.filters.push_back({.span = host.span,
                            .type = model::FilterType::kRedirect,
                            .hostname = host,
                            .status = Located<std::int64_t>{308, host.span}});
    made.rules.push_back(std::move(rule));
    made_.routes.push_back(std::move(made));
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
  const Hosts& regex_hosts_;
  ServiceBackends& backends_;
  model::ResourceSet& made_;
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

/// Whether it takes nothing but a part of others' traffic.
bool is_canary(const IngressOfOurs& one) {
  const Canary& canary = one.settings.canary;
  return canary.enabled && (canary.weight || chosen_by_field(canary));
}

/// The Ingress beside which it stands has the policies. One that a canary itself asks for would hold for nobody.
void refuse_policies_of_canary(IngressOfOurs& one, Diagnostics& diagnostics) {
  const model::Metadata& metadata = one.ingress->metadata;
  if (!is_canary(one) || one.settings.policies.empty()) return;
  diagnostics.add({.code = DiagnosticCode::kInvalidAnnotation,
                   .resource = metadata.text(),
                   .field = "metadata.annotations",
                   .span = one.settings.policies[0].type.span,
                   .message = "a canary has the policies of the Ingress beside which it stands, and none of its own; "
                              "it takes no requests",
                   .fix = "put the annotation on that Ingress"});
  one.settings.policies = {
      {.metadata = metadata, .type = {model::PolicyType::kUnknown, one.settings.policies[0].type.span}, .target = {}}};
}

Hosts hosts_of(const std::vector<IngressOfOurs>& ingresses, bool IngressSettings::* asked) {
  Hosts hosts;
  for (const IngressOfOurs& one : ingresses) {
    if (asked != nullptr && !(one.settings.*asked)) continue;
    for (const model::IngressRule& rule : one.ingress->rules) {
      hosts.insert(rule.host ? rule.host->value.text() : std::string());
    }
  }
  return hosts;
}

/// Whether another Ingress of the namespace has a path that a canary names: its requests are then that one's to share.
bool stands_beside(const IngressOfOurs& canary, const std::vector<IngressOfOurs>& all) {
  const auto paths = [](const model::Ingress& ingress) {
    std::set<std::pair<std::string, std::string>> found;
    for (const model::IngressRule& rule : ingress.rules) {
      for (const model::IngressPath& path : rule.paths) {
        found.emplace(rule.host ? rule.host->value.text() : "", path.path ? path.path->value : "/");
      }
    }
    return found;
  };
  const auto own = paths(*canary.ingress);
  return std::ranges::any_of(all, [&](const IngressOfOurs& other) {
    if (is_canary(other) || other.ingress->metadata.name_space != canary.ingress->metadata.name_space) return false;
    return std::ranges::any_of(paths(*other.ingress), [&](const auto& path) { return own.contains(path); });
  });
}

/// Whether a name of an annotation contains one of `parts`, whoever's prefix it has.
bool has_annotation_of(const model::Ingress& ingress, std::initializer_list<std::string_view> parts) {
  const auto named = [&](const model::NameValue& annotation) {
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return annotation.name.value.find(part) != std::string::npos; });
  };
  return std::ranges::any_of(ingress.annotations, named) || std::ranges::any_of(ingress.foreign, named);
}

}  // namespace

bool concerns_others(const model::Ingress& ingress) {
  return !ingress.tls.empty() || depends_on_others(ingress) ||
         has_annotation_of(ingress, {"use-regex", "rewrite-target"});
}

bool depends_on_others(const model::Ingress& ingress) {
  return has_annotation_of(ingress, {"canary", "server-alias", "www-redirect"});
}

void translate_ingresses(const model::ResourceSet& resources, std::string_view controller,
                         const std::set<std::string>* wanted, ServiceBackends& backends, model::ResourceSet& made,
                         Diagnostics& diagnostics) {
  Classes classes(resources, controller, diagnostics);
  std::vector<IngressOfOurs> ours = ingresses_of_ours(resources, classes, diagnostics);
  for (IngressOfOurs& one : ours) refuse_policies_of_canary(one, diagnostics);
  const Hosts hosts = hosts_of(ours, nullptr);
  const Hosts regex_hosts = hosts_of(ours, &IngressSettings::regex_hosts);

  // Canaries take a share of the traffic of their namespace's other Ingresses.
  std::map<std::string, IngressTranslator::Canaries> canaries;
  for (const IngressOfOurs& one : ours) {
    if (!is_canary(one) || !one.settings.policies.empty()) continue;
    IngressTranslator(one, regex_hosts, backends, made).collect_canaries(canaries[one.ingress->metadata.name_space]);
  }
  std::map<std::string, ClassGateway> gateways;
  const IngressTranslator::Canaries none;
  for (const IngressOfOurs& one : ours) {
    const auto found = canaries.find(one.ingress->metadata.name_space);
    const bool makes_routes = wanted == nullptr || wanted->contains(one.ingress->metadata.text());
    // One by a header or cookie that stands beside nobody serves those requests alone.
    const bool shares = is_canary(one) && (!chosen_by_field(one.settings.canary) || stands_beside(one, ours));
    if (makes_routes && !shares) {
      const bool alone = is_canary(one) || found == canaries.end();
      IngressTranslator(one, regex_hosts, backends, made).run(alone ? none : found->second, hosts);
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
