#include "compiler/translate/service_backends.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "schemas/schema.h"

namespace edge::compiler::translate {
namespace {

constexpr std::string_view kAuthorityKey = "ca.crt";
constexpr std::string_view kCertificateKey = "tls.crt";
constexpr std::string_view kCertificateType = "kubernetes.io/tls";

std::string key(std::string_view name_space, std::string_view name) {
  return std::string(name_space) + "/" + std::string(name);
}

bool is_udp(const BackendOptions& options) { return options.protocol && options.protocol->value == "UDP"; }

const std::vector<model::ServicePort>& ports_of(const model::Service& service, bool udp) {
  return udp ? service.udp_ports : service.ports;
}

const model::ServicePort* find_port(const model::Service& service, const model::PortRef& wanted, bool udp) {
  for (const model::ServicePort& port : ports_of(service, udp)) {
    if (wanted.number != 0 ? port.port == wanted.number : port.name == wanted.name) return &port;
  }
  return nullptr;
}

/// The name of the port that a backend was made for.
std::string port_name(const model::Service& service, const model::PortRef& port, bool udp) {
  const model::ServicePort* found = find_port(service, port, udp);
  return found == nullptr ? std::string() : found->name;
}

}  // namespace

ServiceBackends::ServiceBackends(const model::ResourceSet& resources, std::map<std::string, MadeBackend>& made,
                                 Diagnostics& diagnostics)
    : resources_(resources), diagnostics_(diagnostics), made_(made) {
  for (const model::Service& service : resources.services) {
    // Of doubles linking keeps one and reports the other; the choice must be the same.
    const model::Service*& held = services_[key(service.metadata.name_space, service.metadata.name)];
    const auto age = [](const model::Service& s) { return std::tie(s.metadata.created, s.metadata.digest); };
    if (held == nullptr || age(service) < age(*held)) held = &service;
  }
  for (const model::ServiceImport& import : resources.service_imports) {
    imports_.try_emplace(key(import.metadata.name_space, import.metadata.name), &import);
  }
  index_tls_policies();
}

const model::Service* ServiceBackends::find_service(const std::string& name_space, const std::string& name) const {
  const auto found = services_.find(key(name_space, name));
  return found == services_.end() ? nullptr : found->second;
}

/// The Service of this name here, where there is one, and in every cluster that exports it.
model::BackendRef ServiceBackends::refer_import(const model::Metadata& from, const model::ObjectRef& ref,
                                                const std::string& field, const BackendOptions& options) {
  const std::string& space = ref.to.name_space.empty() ? from.name_space : ref.to.name_space;
  const std::string& name = ref.to.name.value;
  model::BackendRef made{.backend = ref.to, .kind = "ServiceImport"};
  const auto unusable = [&](Span span, std::string what, std::string fix) {
    diagnostics_.add({.code = DiagnosticCode::kUnknownReference,
                      .resource = from.text(),
                      .field = field,
                      .span = span,
                      .message = std::move(what) + "; the reference is answered 500",
                      .fix = std::move(fix)});
    made.unresolved = "BackendNotFound";
    return made;
  };
  const auto found = imports_.find(key(space, name));
  if (found == imports_.end()) {
    return unusable(ref.to.name.span, "there is no ServiceImport `" + name + "` in the namespace `" + space + "`",
                    "create one of the name and namespace of the Service that other clusters export");
  }
  if (!ref.port) {
    return unusable(ref.to.name.span, "the field `port` is required for a ServiceImport", "write the Service's port");
  }
  const auto number = static_cast<std::uint16_t>(ref.port->value);
  const model::ServiceImport& import = *found->second;
  const auto port = std::ranges::find(import.ports, number, &model::ServicePort::port);
  if (!import.ports.empty() && port == import.ports.end()) {
    return unusable(ref.port->span, import.metadata.text() + " has no TCP port " + std::to_string(number),
                    "its ports stand in `spec.ports`");
  }
  made.backend.name.value += ":" + std::to_string(number) + ":import" + options.suffix;
  const auto [slot, added] = made_.try_emplace(key(space, made.backend.name.value));
  slot->second.users.insert(from.text());
  if (!added) return made;
  model::ProxyBackend& backend = slot->second.backend;
  backend.metadata = import.metadata;
  backend.metadata.name = made.backend.name.value;
  const Span span = import.metadata.span;
  const model::Service* const own = find_service(space, name);
  if (own != nullptr && find_port(*own, {.number = number}, false) != nullptr) {
    backend.service = {.name = {name, span}};
    backend.service_port = {{.number = number}, span};
    apply_tls(slot->second, *own);
  } else if (port != import.ports.end() && !options.protocol &&
             (port->protocol == "kubernetes.io/h2c" || port->protocol == "grpc")) {
    backend.protocol = Located<std::string>{port->protocol == "grpc" ? "GRPC" : "H2C", span};
  }
  if (options.protocol) backend.protocol = options.protocol;
  backend.connect_timeout = options.connect_timeout;
  backend.lb_policy = options.lb_policy;
  backend.clusters.push_back(
      {.span = span, .cluster = {"*", span}, .name = {name, span}, .port = {{.number = number}, span}});
  return made;
}

model::BackendRef ServiceBackends::refer(const model::Metadata& from, const model::Reference& service,
                                         const Located<model::PortRef>& port, std::string field,
                                         const BackendOptions& options) {
  const std::string& space = service.name_space.empty() ? from.name_space : service.name_space;
  const model::PortRef& wanted = port.value;
  model::BackendRef ref{.backend = service, .kind = "Service"};
  ref.backend.name.value += ":" + (wanted.number != 0 ? std::to_string(wanted.number) : wanted.name);
  ref.backend.name.value += options.suffix;
  const auto found = services_.find(key(space, service.name.value));
  if (found == services_.end()) return ref;
  if (find_port(*found->second, wanted, is_udp(options)) == nullptr) {
    unknown_port(from, *found->second, port, std::move(field), is_udp(options));
    ref.unresolved = "BackendNotFound";
    return ref;
  }
  const auto [slot, added] = made_.try_emplace(key(space, ref.backend.name.value));
  slot->second.users.insert(from.text());
  if (!added) return ref;
  model::ProxyBackend& backend = slot->second.backend;
  backend.metadata = found->second->metadata;
  backend.metadata.name = ref.backend.name.value;
  backend.service = {.name = {service.name.value, found->second->metadata.span}};
  backend.service_port = {wanted, found->second->metadata.span};
  backend.connect_timeout = options.connect_timeout;
  backend.lb_policy = options.lb_policy;
  backend.protocol = options.protocol;
  apply_tls(slot->second, *found->second);
  if (options.needs_tls.somewhere() && !backend.tls) {
    backend.tls =
        tls_of_options(from, *found->second, options, slot->second.said)
            .value_or(model::BackendTls{.server_name = {service.name.value, options.needs_tls}, .refused = true});
  }
  return ref;
}

model::BackendRef ServiceBackends::refer(const model::Metadata& from, const model::ObjectRef& ref,
                                         const std::string& field, const BackendOptions& options) {
  if (ref.group.empty() && ref.kind == "Service") {
    if (ref.port) {
      const auto number = static_cast<std::uint16_t>(ref.port->value);
      return refer(from, ref.to, {{.number = number}, ref.port->span}, field + ".port", options);
    }
    diagnostics_.add({.code = DiagnosticCode::kMissingField,
                      .resource = from.text(),
                      .field = field + ".port",
                      .span = ref.to.name.span,
                      .message = "the field `port` is required for a Service; the reference is answered 500"});
    return {.backend = ref.to, .kind = ref.kind, .unresolved = "BackendNotFound"};
  }
  if (ref.group == "multicluster.x-k8s.io" && ref.kind == "ServiceImport") {
    return refer_import(from, ref, field, options);
  }
  if (ref.group == schemas::kApiGroup && ref.kind == "ProxyBackend") return {.backend = ref.to};
  diagnostics_.add({.code = DiagnosticCode::kInvalidValue,
                    .resource = from.text(),
                    .field = field + ".kind",
                    .span = ref.kind_span,
                    .message = "a " + (ref.kind.empty() ? "resource" : ref.kind) + " of the group `" + ref.group +
                               "` is no backend; the reference is answered 500",
                    .fix = "refer to a Service, a ServiceImport, or a ProxyBackend of the group `" +
                           std::string(schemas::kApiGroup) + "`"});
  return {.backend = ref.to, .kind = ref.kind, .unresolved = "InvalidKind"};
}

std::vector<model::ProxyBackend> ServiceBackends::all() const {
  std::vector<model::ProxyBackend> all;
  all.reserve(made_.size());
  for (const auto& [name, made] : made_) {
    all.push_back(made.backend);
    diagnostics_.append(made.said);
  }
  return all;
}

void ServiceBackends::unknown_port(const model::Metadata& from, const model::Service& service,
                                   const Located<model::PortRef>& port, std::string field, bool udp) {
  std::string ports;
  for (const model::ServicePort& candidate : ports_of(service, udp)) {
    ports += (ports.empty() ? "its ports are " : ", ") + std::to_string(candidate.port);
    if (!candidate.name.empty()) ports += " (`" + candidate.name + "`)";
  }
  const model::PortRef& wanted = port.value;
  diagnostics_.add({.code = DiagnosticCode::kUnknownReference,
                    .resource = from.text(),
                    .field = std::move(field),
                    .span = port.span,
                    .message = service.metadata.text() + (udp ? " has no UDP port " : " has no TCP port ") +
                               (wanted.number != 0 ? std::to_string(wanted.number) : "`" + wanted.name + "`"),
                    .labels = {{service.metadata.span, "the service"}},
                    .fix = std::move(ports)});
}

void ServiceBackends::index_tls_policies() {
  for (const model::BackendTlsPolicy& policy : resources_.backend_tls_policies) {
    for (std::size_t i = 0; i < policy.targets.size(); ++i) {
      const model::ObjectRef& target = policy.targets[i].ref;
      if (target.group.empty() && target.kind == "Service") {
        policies_[key(policy.metadata.name_space, target.to.name.value)].push_back(&policy);
        continue;
      }
      diagnostics_.add({.code = DiagnosticCode::kInvalidValue,
                        .severity = Severity::kWarning,
                        .resource = policy.metadata.text(),
                        .field = "spec.targetRefs[" + std::to_string(i) + "].kind",
                        .span = target.kind_span,
                        .message = "a BackendTLSPolicy holds for Services, not for a " + target.kind});
    }
  }
  for (auto& [service, policies] : policies_) {
    std::sort(policies.begin(), policies.end(), [](const auto* a, const auto* b) {
      return std::tie(a->metadata.created, a->metadata.name, a->metadata.digest) <
             std::tie(b->metadata.created, b->metadata.name, b->metadata.digest);
    });
  }
}

void ServiceBackends::apply_tls(MadeBackend& made, const model::Service& service) const {
  model::ProxyBackend& backend = made.backend;
  const auto found = policies_.find(key(service.metadata.name_space, service.metadata.name));
  if (found == policies_.end()) return;
  const bool udp = backend.protocol && backend.protocol->value == "UDP";
  const std::string port = port_name(service, backend.service_port.value, udp);
  // One for this port goes before one for the whole Service; of equals the oldest holds.
  const model::BackendTlsPolicy* chosen = nullptr;
  bool chosen_by_port = false;
  for (const model::BackendTlsPolicy* policy : found->second) {
    for (const model::BackendTlsTarget& target : policy->targets) {
      if (target.ref.to.name.value != service.metadata.name) continue;
      if (target.section_name && target.section_name->value != port) continue;
      const bool by_port = target.section_name.has_value();
      if (chosen != nullptr && (chosen_by_port || !by_port)) continue;
      chosen = policy;
      chosen_by_port = by_port;
    }
  }
  if (chosen == nullptr) return;
  model::BackendTls tls{.server_name = chosen->hostname, .system_roots = chosen->well_known.has_value()};
  for (const model::ObjectRef& authority : chosen->authorities) {
    if (!authority_known(*chosen, authority, made.said)) continue;
    model::Reference& named = tls.authorities.emplace_back(authority.to);
    if (authority.kind == "ConfigMap") named.name.value = std::string(model::kConfigMapPrefix) + named.name.value;
  }
  tls.alternative_names = chosen->alternative_names;
  // Those that are there do without the others; with none of them nobody is believed.
  tls.refused = !names_told(*chosen, made.said) || (tls.authorities.empty() && !chosen->well_known);
  backend.tls = std::move(tls);
}

std::optional<model::BackendTls> ServiceBackends::tls_of_options(const model::Metadata& from,
                                                                 const model::Service& service,
                                                                 const BackendOptions& options,
                                                                 Diagnostics& said) const {
  Diagnostic fault = {.code = DiagnosticCode::kInvalidAnnotation,
                      .resource = from.text(),
                      .field = "metadata.annotations",
                      .span = options.needs_tls,
                      .message = "nothing says whose certificates the endpoints of " + service.metadata.text() +
                                 " show; requests are answered 500",
                      .fix =
                          "add a BackendTLSPolicy for the Service, or `proxy-ssl-verify: \"on\"` with "
                          "`proxy-ssl-secret` and `proxy-ssl-name`"};
  if (!options.authority) {
    said.add(std::move(fault));
    return std::nullopt;
  }
  const std::string& name = options.authority->value;
  const auto secret = std::ranges::find_if(resources_.secrets, [&](const model::Secret& one) {
    return one.metadata.name_space == service.metadata.name_space && one.metadata.name == name;
  });
  const auto has = [&](std::string_view wanted) {
    return std::ranges::any_of(secret->entries, [&](const auto& entry) { return entry.key == wanted; });
  };
  if (secret == resources_.secrets.end() || !has(kAuthorityKey)) {
    fault.span = options.authority->span;
    fault.message = "there is no Secret `" + name.substr(0, 100) + "` with a key `ca.crt` in the namespace `" +
                    service.metadata.name_space + "`; requests are answered 500";
    fault.fix.clear();
    said.add(std::move(fault));
    return std::nullopt;
  }
  const std::string usual = service.metadata.name + "." + service.metadata.name_space + ".svc";
  model::BackendTls tls{.server_name = options.server_name ? *options.server_name
                                                           : Located<std::string>{usual, options.needs_tls}};
  const model::Reference reference{.name = *options.authority};
  tls.authorities.push_back(reference);
  if (secret->type == kCertificateType && has(kCertificateKey)) tls.client_certificate = reference;
  return tls;
}

bool ServiceBackends::names_told(const model::BackendTlsPolicy& policy, Diagnostics& diagnostics) {
  bool reported = true;
  for (std::size_t i = 0; i < policy.alternative_names.size(); ++i) {
    const Located<std::string>& name = policy.alternative_names[i].name;
    if (!name.value.empty()) continue;
    reported = false;
    diagnostics.add({.code = DiagnosticCode::kInvalidValue,
                     .resource = policy.metadata.text(),
                     .field = "spec.validation.subjectAltNames[" + std::to_string(i) + "]",
                     .span = name.span,
                     .message = "a name is `type: Hostname` with `hostname`, or `type: URI` with `uri`; requests are "
                                "answered 500"});
  }
  return reported;
}

bool ServiceBackends::authority_known(const model::BackendTlsPolicy& policy, const model::ObjectRef& authority,
                                      Diagnostics& diagnostics) const {
  const auto names = [&](const model::Metadata& metadata) {
    return metadata.name_space == policy.metadata.name_space && metadata.name == authority.to.name.value;
  };
  const bool map = authority.group.empty() && authority.kind == "ConfigMap" &&
                   std::any_of(resources_.config_maps.begin(), resources_.config_maps.end(), [&](const auto& m) {
                     const auto key = std::ranges::find(m.values, kAuthorityKey, &model::ConfigMapValue::key);
                     return names(m.metadata) && key != m.values.end();
                   });
  const bool secret = authority.group.empty() && authority.kind == "Secret" &&
                      std::any_of(resources_.secrets.begin(), resources_.secrets.end(), [&](const auto& s) {
                        return names(s.metadata) && std::any_of(s.entries.begin(), s.entries.end(),
                                                                [](const auto& e) { return e.key == kAuthorityKey; });
                      });
  if (map || secret) return true;
  diagnostics.add({.code = DiagnosticCode::kUnknownReference,
                   .resource = policy.metadata.text(),
                   .field = "spec.validation.caCertificateRefs",
                   .span = authority.to.name.span,
                   .message = "there is no " + authority.kind + " `" + authority.to.name.value +
                              "` with a key `ca.crt` in the namespace `" + policy.metadata.name_space +
                              "`; without any authority requests are answered 500"});
  return false;
}

}  // namespace edge::compiler::translate
