#include "compiler/link/gateways/attach.h"

#include <algorithm>
#include <utility>

#include "compiler/link/stages.h"
#include "compiler/link/supported_features.h"
#include "compiler/model/parameters.h"
#include "program/dump/route_tree.h"

namespace edge::compiler::link {
namespace {

constexpr std::string_view kOwnKind = "ProxyRoute";
constexpr std::string_view kExportKind = "ServiceExport";
constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";

bool is_http(std::string_view protocol) { return protocol == "HTTP" || protocol == "HTTPS"; }

/// The kinds of Gateway API that a protocol carries.
std::vector<std::string_view> carried(std::string_view protocol, bool terminates) {
  if (is_http(protocol)) return {"HTTPRoute", "GRPCRoute"};
  if (protocol == "TCP") return {"TCPRoute"};
  if (protocol == "UDP") return {"UDPRoute"};
  if (protocol == "TLS" && terminates) return {"TLSRoute", "TCPRoute"};
  if (protocol == "TLS") return {"TLSRoute"};
  return {};
}

/// What a route asks for beyond host names and backends, which is all that can be asked of bytes that are not read;
/// empty: nothing.
std::string beyond_bytes(const model::ProxyRoute& route, Span& span) {
  const auto says = [&](Span where, std::string field) {
    span = where;
    return field;
  };
  if (route.expression) return says(route.expression->span, "spec.expression");
  for (std::size_t i = 0; i < route.rules.size(); ++i) {
    const model::Rule& rule = route.rules[i];
    const std::string field = "spec.rules[" + std::to_string(i) + "].";
    if (!rule.matches.empty()) return says(rule.matches[0].span, field + "matches");
    if (!rule.filters.empty()) return says(rule.filters[0].span, field + "filters");
    if (rule.retry) return says(rule.span, field + "retry");
    if (rule.buffering) return says(rule.buffering->span, field + "buffering");
    if (rule.request_timeout) return says(rule.request_timeout->span, field + "limits.requestTimeout");
    if (rule.min_grpc_timeout) return says(rule.min_grpc_timeout->span, field + "limits.minGrpcTimeout");
    if (rule.max_request_body) return says(rule.max_request_body->span, field + "limits.maxRequestBodySize");
  }
  return {};
}

/// Whether a route's names and a listener's share any. Connections of TCP and datagrams have none.
bool share_names(const std::vector<Located<HostPattern>>& route, const LinkedListener& listener) {
  if (route.empty()) return true;
  if (listener.hostnames.empty()) {
    return listener.protocol != program::Protocol::kTcp && listener.protocol != program::Protocol::kUdp;
  }
  for (const Located<HostPattern>& a : route) {
    for (const Located<HostPattern>& b : listener.hostnames) {
      if (HostPattern::intersect(a.value, b.value)) return true;
    }
  }
  return false;
}

/// Attaches one route to its parents, one after the other.
class Attacher {
 public:
  Attacher(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings, LinkedRoute& linked)
      : route_(route), targets_(targets), findings_(findings), linked_(linked) {}

  void run() {
    if (route_.metadata.kind == kExportKind) attach_export();
    for (std::size_t i = 0; i < route_.parents.size(); ++i) parent(i);
    std::sort(linked_.listeners.begin(), linked_.listeners.end());
    linked_.listeners.erase(std::unique(linked_.listeners.begin(), linked_.listeners.end()), linked_.listeners.end());
  }

 private:
  /// What is exported is served to other clusters, by every gateway for those.
  void attach_export() {
    for (std::size_t i = 0; i < targets_.listeners.size(); ++i) {
      if (!targets_.config.gateways[i].for_clusters) continue;
      for (const ListenerState& state : targets_.listeners[i]) {
        if (state.linked) linked_.listeners.push_back(*state.linked);
      }
    }
  }

  void parent(std::size_t index) {
    const model::ParentRef& parent = route_.parents[index];
    if (parent.kind.empty()) return;  // another controller's
    const auto field = [&] { return "spec.parentRefs[" + std::to_string(index) + "].name"; };
    const std::string& name = parent.gateway.name.value;
    const auto gateway = find(parent, field);
    if (!gateway) {
      return refuse(index, reason::kNoMatchingParent, "the " + parent.kind + " `" + name + "` cannot be used");
    }
    const std::vector<ListenerState>& states = targets_.listeners[*gateway];
    const auto is_served = [&](const ListenerState& state) { return state.linked && is_meant(parent, state); };
    if (std::none_of(states.begin(), states.end(), is_served)) {  // reported where the gateway was linked
      return refuse(index, reason::kNoMatchingParent,
                    parent.listener_set
                        ? "the ListenerSet `" + parent.listener_set->name.value + "` has no listener that is served"
                        : "the " + parent.kind + " `" + name + "` serves no listener");
    }
    attach_to(index, *gateway, states);
  }

  /// The listeners of a ListenerSet are meant by those who name the set, and by nobody else.
  static bool is_meant(const model::ParentRef& parent, const ListenerState& state) {
    if (!parent.listener_set) return state.set.empty();
    return state.set == resource_path(parent.listener_set->name_space, parent.listener_set->name.value);
  }

  /// A Gateway decides by its listeners which namespaces may attach, so a reference to one needs no grant.
  template <typename FieldText>
  std::optional<std::uint32_t> find(const model::ParentRef& parent, FieldText field) {
    const bool own = parent.kind == "ProxyGateway";
    const Resolved found =
        own ? targets_.gateways.resolve(route_.metadata, parent.kind, parent.gateway, field, findings_)
            : targets_.gateways.resolve_ungranted(route_.metadata, parent.kind, parent.gateway, field, findings_);
    if (!found) return std::nullopt;
    return found.position;
  }

  void attach_to(std::size_t index, std::uint32_t gateway, const std::vector<ListenerState>& states) {
    const model::ParentRef& parent = route_.parents[index];
    const std::optional<Preference> preference = preferred(parent, states);
    bool meant = false;
    bool allowed = false;
    bool served = false;
    bool fits = true;
    for (const ListenerState& state : states) {
      if (!state.linked || !is_meant(parent, state)) continue;
      const LinkedListener& listener = targets_.config.listeners[*state.linked];
      if (preference && preference_of(listener.protocol) != *preference) continue;
      if (parent.section_name && parent.section_name->value != state.name) continue;
      if (parent.port && parent.port->value != listener.port) continue;
      meant = true;
      // Other clusters get what ServiceExports name, and nothing else.
      if (targets_.config.gateways[listener.gateway].for_clusters) continue;
      if (!state.admission.takes_namespace(route_.metadata.name_space) ||
          !state.admission.takes_kind(route_.metadata.kind)) {
        continue;
      }
      allowed = true;
      if (!share_names(route_.hostnames, listener)) continue;
      if (is_raw(listener.protocol) ? !fits_raw(listener) : !speaks_streams(listener)) {
        fits = false;
        continue;
      }
      served = true;
      linked_.listeners.push_back(*state.linked);
    }
    if (served) return;
    const std::string text = parent.listener_set ? resource_text("ListenerSet", parent.listener_set->name_space,
                                                                 parent.listener_set->name.value)
                                                 : targets_.config.gateways[gateway].identity.text();
    const std::string field = "spec.parentRefs[" + std::to_string(index) + "]";
    if (!meant) {
      const Span span = parent.section_name ? parent.section_name->span
                        : parent.port       ? parent.port->span
                                            : parent.gateway.name.span;
      const std::string_view sub = parent.section_name ? ".sectionName" : parent.port ? ".port" : ".name";
      not_attached(span, field + std::string(sub), text + " serves no such listener; the route does not attach there",
                   listener_names(parent, states));
      refuse(index, reason::kNoMatchingParent, text + " serves no such listener");
    } else if (!allowed) {
      const std::string message = "no listener of " + text + " allows a " + route_.metadata.kind +
                                  " of the namespace `" + route_.metadata.name_space + "`";
      not_attached(parent.gateway.name.span, field + ".name", message,
                   "its listeners say by `allowedRoutes` which namespaces and kinds they take");
      refuse(index, reason::kNotAllowedByListeners, message);
    } else if (!fits) {
      refuse(index, reason::kUnsupportedValue, "the route asks for more than the listener can do");
    } else {
      const std::string message = "no listener of " + text + " serves any of the route's hostnames";
      not_attached(route_.hostnames[0].span, "spec.hostnames", message, {});
      refuse(index, reason::kNoMatchingListenerHostname, message);
    }
  }

  enum class Preference : std::uint8_t { kHttp, kBytes, kDatagrams };

  static Preference preference_of(program::Protocol protocol) {
    if (protocol == program::Protocol::kUdp) return Preference::kDatagrams;
    return is_raw(protocol) ? Preference::kBytes : Preference::kHttp;
  }

  /// A route that names no listener means those of datagrams where a backend takes such, else those that speak HTTP,
  /// not also the ports beside them. nullopt: all that there are.
  std::optional<Preference> preferred(const model::ParentRef& parent, const std::vector<ListenerState>& states) const {
    if (parent.section_name || parent.port || route_.metadata.kind != kOwnKind) return std::nullopt;
    const auto has = [&](Preference preference) {
      return std::any_of(states.begin(), states.end(), [&](const ListenerState& state) {
        return state.linked && preference_of(targets_.config.listeners[*state.linked].protocol) == preference;
      });
    };
    if (takes_datagrams() && has(Preference::kDatagrams)) return Preference::kDatagrams;
    for (const Preference preference : {Preference::kHttp, Preference::kBytes}) {
      if (has(preference)) return preference;
    }
    return std::nullopt;
  }

  bool takes_datagrams() const {
    return std::any_of(linked_.rules.begin(), linked_.rules.end(), [&](const LinkedRule& rule) {
      return std::any_of(rule.backends.begin(), rule.backends.end(), [&](const auto& one) {
        return one.backend && targets_.config.backends[*one.backend].protocol == program::BackendProtocol::kUdp;
      });
    });
  }

  bool fits_raw(const LinkedListener& listener) {
    const std::string protocol(program::protocol_name(listener.protocol));
    Span span;
    if (std::string field = beyond_bytes(route_, span); !field.empty()) {
      beyond(listener, span, std::move(field),
             "a listener of protocol " + protocol + " forwards " +
                 (listener.protocol == program::Protocol::kUdp ? "datagrams" : "bytes") +
                 " without reading them, and cannot do this",
             "a rule has backends and `limits.idleTimeout` here, and nothing else");
      return false;
    }
    return listener.protocol == program::Protocol::kUdp ? speaks_datagrams(listener) : speaks_bytes(listener, protocol);
  }

  /// What is no HTTP cannot be a stream of HTTP/2, and no datagram.
  bool speaks_bytes(const LinkedListener& listener, const std::string& protocol) {
    const bool streams = speaks_streams(listener);
    const bool bytes =
        each_backend([&](const LinkedBackend& backend, const model::BackendRef& written, std::string field) {
          if (backend.protocol != program::BackendProtocol::kHttp2) return true;
          beyond(listener, written.backend.name.span, std::move(field),
                 backend.identity.text() + " is spoken to by HTTP/2, and a listener of protocol " + protocol +
                     " forwards bytes that may be anything",
                 "leave `protocol` out of the backend that takes bytes, and `appProtocol` out of its Service's port");
          return false;
        });
    return streams && bytes;
  }

  /// Of a listener of connections.
  bool speaks_streams(const LinkedListener& listener) {
    return each_backend([&](const LinkedBackend& backend, const model::BackendRef& written, std::string field) {
      if (backend.protocol != program::BackendProtocol::kUdp) return true;
      beyond(listener, written.backend.name.span, std::move(field),
             backend.identity.text() + " takes datagrams, and a listener of protocol " +
                 std::string(program::protocol_name(listener.protocol)) + " has connections",
             "attach the route to a listener of protocol UDP, or leave `protocol: UDP` out of the backend");
      return false;
    });
  }

  bool speaks_datagrams(const LinkedListener& listener) {
    return each_backend([&](const LinkedBackend& backend, const model::BackendRef& written, std::string field) {
      if (backend.protocol == program::BackendProtocol::kUdp) return true;
      beyond(listener, written.backend.name.span, std::move(field),
             backend.identity.text() + " takes connections, and a listener of protocol UDP forwards datagrams",
             "set `protocol: UDP` of the backend");
      return false;
    });
  }

  /// Whether each backend of the rules does, all of them asked.
  template <typename Does>
  bool each_backend(Does does) {
    bool all = true;
    for (std::size_t rule = 0; rule < linked_.rules.size(); ++rule) {
      const auto& backends = linked_.rules[rule].backends;
      for (std::size_t i = 0; i < backends.size(); ++i) {
        if (!backends[i].backend) continue;
        all &= does(targets_.config.backends[*backends[i].backend], route_.rules[rule].backends[i],
                    "spec.rules[" + std::to_string(rule) + "].backendRefs[" + std::to_string(i) + "].name");
      }
    }
    return all;
  }

  void beyond(const LinkedListener& listener, Span span, std::string field, std::string message, std::string fix) {
    findings_.diagnostics.add({.code = DiagnosticCode::kBeyondBytes,
                               .resource = route_.metadata.text(),
                               .field = std::move(field),
                               .span = span,
                               .message = std::move(message),
                               .labels = {{listener.span, "the route does not attach here"}},
                               .fix = std::move(fix)});
  }

  std::string listener_names(const model::ParentRef& parent, const std::vector<ListenerState>& states) const {
    std::string text;
    std::size_t count = 0;
    for (const ListenerState& state : states) {
      if (!state.linked || !is_meant(parent, state) || ++count > 8) continue;
      const LinkedListener& listener = targets_.config.listeners[*state.linked];
      text +=
          (text.empty() ? "its listeners are `" : ", `") + state.name + "` on port " + std::to_string(listener.port);
    }
    return text;
  }

  void not_attached(Span span, std::string field, std::string message, std::string fix) {
    warn(route_.metadata,
         {.code = DiagnosticCode::kNotAttached,
          .field = std::move(field),
          .span = span,
          .message = std::move(message),
          .fix = std::move(fix)},
         findings_.diagnostics);
  }

  void refuse(std::size_t parent, std::string_view reason, std::string message) {
    ParentStatus& status = findings_.status.parents.emplace_back();
    status.parent_ref = static_cast<std::uint32_t>(parent);
    fail(status.conditions, condition::kAccepted, reason, std::move(message));
  }

  const model::ProxyRoute& route_;
  const RouteTargets& targets_;
  Findings& findings_;
  LinkedRoute& linked_;
};

}  // namespace

NamespaceLabels::NamespaceLabels(const std::vector<model::Namespace>& namespaces) {
  for (const model::Namespace& space : namespaces) {
    auto& labels = labels_[space.metadata.name];
    for (const model::NameValue& label : space.labels) labels.emplace_back(label.name.value, label.value.value);
  }
}

bool NamespaceLabels::selected(std::string_view name_space,
                               const std::vector<model::LabelRequirement>& selector) const {
  using enum model::LabelRequirement::Operator;
  const auto known = labels_.find(std::string(name_space));
  const auto value_of = [&](std::string_view key) -> std::optional<std::string_view> {
    if (known != labels_.end()) {
      for (const auto& [name, value] : known->second) {
        if (name == key) return value;
      }
    }
    if (key == kNameLabel) return name_space;
    return std::nullopt;
  };
  return std::all_of(selector.begin(), selector.end(), [&](const model::LabelRequirement& requirement) {
    const auto value = value_of(requirement.key);
    const bool listed =
        value && std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
    switch (requirement.op) {
      case kIn:
        return listed;
      case kNotIn:
        return !listed;
      case kExists:
        return value.has_value();
      case kDoesNotExist:
        return !value.has_value();
    }
    return false;
  });
}

bool Admission::takes_namespace(std::string_view name_space) const {
  using enum model::AllowedRoutes::From;
  if (!allowed) return true;  // resolving the reference asked for a grant
  switch (allowed->from) {
    case kSame:
      return name_space == gateway_space;
    case kAll:
      return true;
    case kSelector:
      return labels != nullptr && labels->selected(name_space, allowed->selector);
    case kNone:
      return false;
  }
  return false;
}

bool Admission::takes_kind(std::string_view kind) const {
  if (is_http(protocol)) {
    if (kind == "TLSRoute" || kind == "TCPRoute" || kind == "UDPRoute") return false;
  } else if (kind != kOwnKind) {
    const auto kinds = carried(protocol, terminates);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return false;
  }
  if (!allowed || allowed->kinds.empty()) return true;
  return std::any_of(allowed->kinds.begin(), allowed->kinds.end(),
                     [&](const model::RouteKind& allowed_kind) { return allowed_kind.kind == kind; });
}

bool terminates_tls(const model::Listener& listener) {
  if (listener.tls && listener.tls->mode) return listener.tls->mode->value == "Terminate";
  return listener.protocol.value == "HTTPS";
}

std::vector<std::string> supported_kinds(const model::Listener& listener, bool& invalid) {
  const std::vector<std::string_view> all = carried(listener.protocol.value, terminates_tls(listener));
  invalid = false;
  if (!listener.allowed_routes || listener.allowed_routes->kinds.empty()) return {all.begin(), all.end()};
  std::vector<std::string> kinds;
  for (const model::RouteKind& asked : listener.allowed_routes->kinds) {
    const bool own = asked.group == model::kGatewayApiGroup;
    if (own && std::find(all.begin(), all.end(), asked.kind) != all.end()) {
      kinds.push_back(asked.kind);
    } else {
      invalid = true;
    }
  }
  return kinds;
}

void attach(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings, LinkedRoute& linked) {
  Attacher(route, targets, findings, linked).run();
}

void class_statuses(const std::vector<model::GatewayClass>& classes, std::string_view controller,
                    const std::vector<model::ProxyGateway>& gateways, std::vector<ResourceStatus>& statuses) {
  for (const model::GatewayClass& gateway_class : classes) {
    if (gateway_class.controller.value != controller) continue;
    ResourceStatus status{.kind = gateway_class.metadata.kind,
                          .name = gateway_class.metadata.name,
                          .observed_generation = gateway_class.metadata.generation};
    const auto& asked = gateway_class.parameters;
    const model::Parameters parameters = asked ? model::find_parameters(*asked, {}, gateways) : model::Parameters();
    if (!parameters.fault.empty()) {
      fail(status.conditions, condition::kAccepted, reason::kInvalidParameters, parameters.fault);
    } else {
      set_condition(status.conditions,
                    {std::string(condition::kAccepted), ConditionStatus::kTrue, std::string(reason::kAccepted)});
      status.supported_features.assign(kSupportedFeatures.begin(), kSupportedFeatures.end());
    }
    statuses.push_back(std::move(status));
  }
}

}  // namespace edge::compiler::link
