#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "compiler/model/parameters.h"
#include "compiler/translate/gateway_api.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

constexpr std::string_view kProtocols[] = {"HTTP", "HTTPS", "TLS", "TCP", "UDP"};

std::string listener_field(const model::Listener& listener, std::string_view field) {
  return "spec.listeners[" + std::to_string(listener.position) + "]." + std::string(field);
}

class GatewayTranslator {
 public:
  /// `of_class`: the parameters of its class, if it asks for any. `settings`: gateways that may be named as parameters.
  GatewayTranslator(const model::Gateway& gateway, const std::optional<model::Parameters>& of_class,
                    const std::vector<model::ProxyGateway>& settings, Diagnostics& diagnostics)
      : gateway_(gateway), of_class_(of_class), settings_(settings), diagnostics_(diagnostics) {}

  /// `sets`: ListenerSets that name it as their parent, the one that goes first first.
  model::ProxyGateway run(const std::vector<const model::ListenerSet*>& sets) {
    model::ProxyGateway made{.metadata = gateway_.metadata, .vip_ref = gateway_.vip};
    made.allowed_listeners = gateway_.allowed_listeners;
    for (const model::GatewayListener& own : gateway_.listeners) {
      made.listeners.push_back(listener(own, gateway_.metadata));
    }
    for (const model::ListenerSet* set : sets) add_set(*set, made);
    for (std::size_t i = 0; i < gateway_.addresses.size(); ++i) address(i, made);
    made.takes_from_pool = !made.vip_ref && made.addresses.empty();
    parameters(made);
    if (gateway_.client_certificate) client_certificate(*gateway_.client_certificate, made);
    return made;
  }

 private:
  void report(DiagnosticCode code, Severity severity, Span span, std::string field, std::string message,
              std::string fix = {}) {
    report_of(gateway_.metadata, code, severity, span, std::move(field), std::move(message), std::move(fix));
  }

  void report_of(const model::Metadata& resource, DiagnosticCode code, Severity severity, Span span, std::string field,
                 std::string message, std::string fix = {}) {
    diagnostics_.add({.code = code,
                      .severity = severity,
                      .resource = resource.text(),
                      .field = std::move(field),
                      .span = span,
                      .message = std::move(message),
                      .fix = std::move(fix)});
  }

  /// Its own parameters are taken in place of those of its class. Settings may protect it, so that it is not served
  /// without those that it asks for.
  void parameters(model::ProxyGateway& made) {
    const auto& own = gateway_.parameters;
    if (!own && !of_class_) return;
    const model::Parameters found =
        own ? model::find_parameters(*own, gateway_.metadata.name_space, settings_) : *of_class_;
    if (found.settings != nullptr) return model::take_settings(*found.settings, made);
    made.refused = "InvalidParameters";
    made.refused_because = found.fault;
    report(DiagnosticCode::kNotServed, Severity::kWarning, own ? own->span : gateway_.class_name.span,
           own ? "spec.infrastructure.parametersRef" : "spec.gatewayClassName",
           (own ? "" : "of its GatewayClass: ") + found.fault + "; no listener is served",
           "name a ProxyGateway, whose settings are taken; `listeners: []` makes one of settings alone");
  }

  void client_certificate(const model::ObjectRef& asked, model::ProxyGateway& made) {
    made.client_certificate = asked.to;
    if (asked.group.empty() && asked.kind == "Secret") return;
    made.client_certificate->name.value.clear();
    report(DiagnosticCode::kInvalidValue, Severity::kError, asked.kind_span, "spec.tls.backend.clientCertificateRef",
           "a certificate is in a Secret, not in a " + asked.kind +
               (asked.group.empty() ? "" : " of the group `" + asked.group + "`") +
               "; backends that are called over TLS are not called");
  }

  void add_set(const model::ListenerSet& set, model::ProxyGateway& made) {
    const auto number = static_cast<std::uint32_t>(made.listener_sets.size());
    made.listener_sets.push_back(set.metadata);
    for (const model::GatewayListener& one : set.listeners) {
      made.listeners.push_back(listener(one, set.metadata));
      made.listeners.back().set = number;
    }
  }

  /// `owner`: the Gateway, or the ListenerSet that it stands in.
  model::Listener listener(const model::GatewayListener& from, const model::Metadata& owner) {
    model::Listener made = from.listener;
    if (std::find(std::begin(kProtocols), std::end(kProtocols), made.protocol.value) == std::end(kProtocols)) {
      made.refused = "UnsupportedProtocol";
      report_of(owner, DiagnosticCode::kNotServed, Severity::kWarning, made.protocol.span,
                listener_field(made, "protocol"),
                "listeners of protocol " + made.protocol.value + " are not served; the listener is left out",
                "HTTP, HTTPS, TLS, TCP and UDP are known");
    }
    // Gateway API has a host name ignored where the protocol has none.
    const bool nameless = made.protocol.value == "TCP" || made.protocol.value == "UDP";
    if (nameless) made.hostnames.clear();
    const bool plain = made.protocol.value == "HTTP" || nameless;
    if (plain && made.tls) {
      made.refused = "Invalid";
      report_of(owner, DiagnosticCode::kExclusiveFields, Severity::kError, made.tls->span, listener_field(made, "tls"),
                "a listener of protocol " + made.protocol.value + " has no TLS settings; the listener is left out",
                "set protocol to HTTPS or TLS, or leave `tls` out");
    }
    for (const model::ObjectRef& certificate : from.certificates) {
      if (certificate.group.empty() && certificate.kind == "Secret") {
        made.tls->certificates.push_back(certificate.to);
        continue;
      }
      made.refused = "InvalidCertificateRef";
      report_of(owner, DiagnosticCode::kInvalidValue, Severity::kError, certificate.kind_span,
                listener_field(made, "tls.certificateRefs"),
                "a certificate is in a Secret, not in a " + certificate.kind +
                    (certificate.group.empty() ? "" : " of the group `" + certificate.group + "`") +
                    "; it is left out");
    }
    if (made.protocol.value == "HTTPS") validate_clients(made);
    return made;
  }

  /// Whoever must be let in by certificate is not let in without, whatever is wrong with the authorities.
  void validate_clients(model::Listener& made) {
    const auto& ports = gateway_.client_validation_of_port;
    const auto of_port =
        std::find_if(ports.begin(), ports.end(), [&](const auto& one) { return one.port == made.port.value; });
    const auto& asked = of_port != ports.end() ? of_port->validation : gateway_.client_validation;
    if (!asked) return;
    if (!made.tls) made.tls = model::Tls{.span = made.span};
    made.tls->needs_client_certificate = true;
    made.tls->client_certificate_optional = asked->optional;
    made.tls->client_certificate_unverified = asked->optional;
    for (const model::ObjectRef& authority : asked->authorities) {
      model::Reference named = authority.to;
      const bool map = authority.group.empty() && authority.kind == "ConfigMap";
      if (map) named.name.value = std::string(model::kConfigMapPrefix) + named.name.value;
      if (map || (authority.group.empty() && authority.kind == "Secret")) {
        made.tls->client_authorities.push_back(std::move(named));
        continue;
      }
      made.refused = "InvalidCACertificateKind";
      report(DiagnosticCode::kInvalidValue, Severity::kError, authority.kind_span, "spec.tls.frontend",
             "authorities are in a ConfigMap or a Secret, not in a " + authority.kind + "; it is left out");
    }
  }

  void address(std::size_t index, model::ProxyGateway& made) {
    const model::GatewayAddress& asked = gateway_.addresses[index];
    const std::string type = asked.type ? asked.type->value : "IPAddress";
    const bool is_vip = type == std::string(schemas::kApiGroup) + "/vip";
    // Which address it is, is left to us then: as without the entry.
    if (type == "IPAddress" && !asked.value) return;
    const auto ip = asked.value ? parse_ip(asked.value->value) : std::nullopt;
    if (type == "IPAddress" && ip) {
      made.addresses.push_back({*ip, asked.value->span});
    } else if (is_vip && asked.value && !made.vip_ref) {
      made.vip_ref = asked.value;
    } else {
      // Without the address that it asks for it must not bind every one instead.
      made.refused = type == "IPAddress" || is_vip ? "AddressNotUsable" : "UnsupportedAddress";
      report(
          DiagnosticCode::kInvalidValue, Severity::kError, asked.value ? asked.value->span : asked.span,
          "spec.addresses[" + std::to_string(index) + "]",
          "`" + (asked.value ? asked.value->value : std::string()) + "` of type " + type +
              " is no address that can be bound; no listener is served",
          "give an IP address, or the type `" + std::string(schemas::kApiGroup) + "/vip` with the name of a ProxyVIP");
    }
  }

  const model::Gateway& gateway_;
  const std::optional<model::Parameters>& of_class_;
  const std::vector<model::ProxyGateway>& settings_;
  Diagnostics& diagnostics_;
};

std::string name_of(const model::Metadata& metadata) { return metadata.name_space + "/" + metadata.name; }

/// `namespace/name` of the Gateway that it adds listeners to.
std::string parent_of(const model::ListenerSet& set) {
  const model::Reference& to = set.parent.to;
  return (to.name_space.empty() ? set.metadata.name_space : to.name_space) + "/" + to.name.value;
}

/// By `namespace/name` of the Gateway: Gateway API has the older go first, then the one whose name is less.
std::map<std::string, std::vector<const model::ListenerSet*>> sets_of_gateways(const model::ResourceSet& resources,
                                                                               Diagnostics& diagnostics) {
  std::vector<const model::ListenerSet*> order;
  for (const model::ListenerSet& set : resources.listener_sets) order.push_back(&set);
  std::ranges::sort(order, [](const model::ListenerSet* a, const model::ListenerSet* b) {
    const model::Metadata& x = a->metadata;
    const model::Metadata& y = b->metadata;
    return std::tie(x.created, x.name_space, x.name, x.digest) < std::tie(y.created, y.name_space, y.name, y.digest);
  });
  std::map<std::string, std::vector<const model::ListenerSet*>> sets;
  std::map<std::string, const model::ListenerSet*> known;
  for (const model::ListenerSet* set : order) {
    const auto [first, added] = known.emplace(name_of(set->metadata), set);
    if (!added) {
      diagnostics.add({.code = DiagnosticCode::kDuplicateResource,
                       .resource = set->metadata.text(),
                       .field = "metadata.name",
                       .span = set->metadata.span,
                       .message = "the resource is given twice; this one is left out",
                       .labels = {{first->second->metadata.span, "this one holds"}},
                       .fix = "give it another name or namespace, or remove one of them"});
      continue;
    }
    if (set->parent.group == model::kGatewayApiGroup && set->parent.kind == "Gateway") {
      sets[parent_of(*set)].push_back(set);
      continue;
    }
    diagnostics.add({.code = DiagnosticCode::kNotServed,
                     .severity = Severity::kWarning,
                     .resource = set->metadata.text(),
                     .field = "spec.parentRef.kind",
                     .span = set->parent.kind_span,
                     .message = "a " + set->parent.kind + " of the group `" + set->parent.group +
                                "` is no parent of listeners that is served"});
  }
  return sets;
}

}  // namespace

ListenerSetParents listener_set_parents(const model::ResourceSet& resources) {
  ListenerSetParents parents;
  for (const model::ListenerSet& set : resources.listener_sets) {
    if (set.parent.group != model::kGatewayApiGroup || set.parent.kind != "Gateway") continue;
    parents.emplace(name_of(set.metadata), parent_of(set));
  }
  return parents;
}

OthersGateways translate_gateways(const model::ResourceSet& resources, std::string_view controller,
                                  model::ResourceSet& made, Diagnostics& diagnostics) {
  struct Class {
    const model::GatewayClass* resource;
    std::optional<model::Parameters> parameters;
  };
  std::map<std::string_view, Class> classes;
  for (const model::GatewayClass& one : resources.gateway_classes) {
    const auto [added, first] = classes.emplace(one.metadata.name, Class{&one, std::nullopt});
    if (!first || !one.parameters) continue;
    added->second.parameters = model::find_parameters(*one.parameters, {}, resources.gateways);
  }
  OthersGateways others;
  const auto sets = sets_of_gateways(resources, diagnostics);
  for (const model::Gateway& gateway : resources.api_gateways) {
    const auto found = classes.find(gateway.class_name.value);
    const bool known = found != classes.end();
    if (known && found->second.resource->controller.value == controller) {
      const auto own = sets.find(name_of(gateway.metadata));
      made.gateways.push_back(GatewayTranslator(gateway, found->second.parameters, resources.gateways, diagnostics)
                                  .run(own == sets.end() ? std::vector<const model::ListenerSet*>() : own->second));
      continue;
    }
    others.insert(gateway.metadata.name_space + "/" + gateway.metadata.name);
    const std::string name = "`" + gateway.class_name.value + "`";
    diagnostics.add(
        {.code = DiagnosticCode::kOtherClass,
         .severity = known ? Severity::kNote : Severity::kWarning,
         .resource = gateway.metadata.text(),
         .field = "spec.gatewayClassName",
         .span = gateway.class_name.span,
         .message = known ? "the GatewayClass " + name + " is of the controller `" +
                                found->second.resource->controller.value + "`; the Gateway is left to it"
                          : "there is no GatewayClass " + name + "; the Gateway is not served",
         .fix = known ? std::string() : "add a GatewayClass with `controllerName: " + std::string(controller) + "`"});
  }
  return others;
}

}  // namespace edge::compiler::translate
