#include <algorithm>
#include <map>
#include <utility>

#include "base/ip.h"
#include "compiler/translate/gateway_api.h"
#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

constexpr std::string_view kProtocols[] = {"HTTP", "HTTPS", "TLS", "TCP"};

std::string listener_field(std::size_t index, std::string_view field) {
  return "spec.listeners[" + std::to_string(index) + "]." + std::string(field);
}

class GatewayTranslator {
 public:
  GatewayTranslator(const model::Gateway& gateway, Diagnostics& diagnostics)
      : gateway_(gateway), diagnostics_(diagnostics) {}

  model::ProxyGateway run() {
    model::ProxyGateway made{.metadata = gateway_.metadata, .vip_ref = gateway_.vip};
    for (std::size_t i = 0; i < gateway_.listeners.size(); ++i) made.listeners.push_back(listener(i));
    for (std::size_t i = 0; i < gateway_.addresses.size(); ++i) address(i, made);
    if (gateway_.parameters) {
      made.refused = "InvalidParameters";
      report(DiagnosticCode::kNotServed, Severity::kWarning, gateway_.parameters->span,
             "spec.infrastructure.parametersRef", "a Gateway takes no parameters; no listener is served");
    }
    if (gateway_.client_certificate.somewhere()) {
      report(DiagnosticCode::kNotServed, Severity::kWarning, gateway_.client_certificate,
             "spec.tls.backend.clientCertificateRef", "backends are shown no certificate of the Gateway",
             "a ProxyBackend has `tls.clientCertificateRef`");
    }
    return made;
  }

 private:
  void report(DiagnosticCode code, Severity severity, Span span, std::string field, std::string message,
              std::string fix = {}) {
    diagnostics_.add({.code = code,
                      .severity = severity,
                      .resource = gateway_.metadata.text(),
                      .field = std::move(field),
                      .span = span,
                      .message = std::move(message),
                      .fix = std::move(fix)});
  }

  model::Listener listener(std::size_t index) {
    model::Listener made = gateway_.listeners[index].listener;
    if (std::find(std::begin(kProtocols), std::end(kProtocols), made.protocol.value) == std::end(kProtocols)) {
      made.refused = "UnsupportedProtocol";
      report(DiagnosticCode::kNotServed, Severity::kWarning, made.protocol.span, listener_field(index, "protocol"),
             "listeners of protocol " + made.protocol.value + " are not served; the listener is left out",
             "HTTP, HTTPS, TLS and TCP are known");
    }
    // Gateway API has a host name ignored where the protocol has none.
    if (made.protocol.value == "TCP") made.hostnames.clear();
    const bool plain = made.protocol.value == "HTTP" || made.protocol.value == "TCP";
    if (plain && made.tls) {
      made.refused = "Invalid";
      report(DiagnosticCode::kExclusiveFields, Severity::kError, made.tls->span, listener_field(index, "tls"),
             "a listener of protocol " + made.protocol.value + " has no TLS settings; the listener is left out",
             "set protocol to HTTPS or TLS, or leave `tls` out");
    }
    for (const model::ObjectRef& certificate : gateway_.listeners[index].certificates) {
      if (certificate.group.empty() && certificate.kind == "Secret") {
        made.tls->certificates.push_back(certificate.to);
        continue;
      }
      made.refused = "InvalidCertificateRef";
      report(DiagnosticCode::kInvalidValue, Severity::kError, certificate.kind_span,
             listener_field(index, "tls.certificateRefs"),
             "a certificate is in a Secret, not in a " + certificate.kind +
                 (certificate.group.empty() ? "" : " of the group `" + certificate.group + "`") + "; it is left out");
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
  Diagnostics& diagnostics_;
};

}  // namespace

OthersGateways translate_gateways(const model::ResourceSet& resources, std::string_view controller,
                                  model::ResourceSet& made, Diagnostics& diagnostics) {
  std::map<std::string_view, const model::GatewayClass*> classes;
  for (const model::GatewayClass& one : resources.gateway_classes) classes.emplace(one.metadata.name, &one);
  OthersGateways others;
  for (const model::Gateway& gateway : resources.api_gateways) {
    const auto found = classes.find(gateway.class_name.value);
    const bool known = found != classes.end();
    if (known && found->second->controller.value == controller && !found->second->parameters) {
      made.gateways.push_back(GatewayTranslator(gateway, diagnostics).run());
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
         .message = !known                      ? "there is no GatewayClass " + name + "; the Gateway is not served"
                    : found->second->parameters ? "the GatewayClass " + name +
                                                      " asks for parameters, which are not read; the "
                                                      "Gateway is not served"
                                                : "the GatewayClass " + name + " is of the controller `" +
                                                      found->second->controller.value + "`; the Gateway is left to it",
         .fix = known ? std::string() : "add a GatewayClass with `controllerName: " + std::string(controller) + "`"});
  }
  return others;
}

}  // namespace edge::compiler::translate
