#include <algorithm>
#include <utility>

#include "compiler/model/decode_kinds.h"
#include "schemas/schema.h"

namespace edge::compiler::model {
namespace {

ObjectRef resource_ref(const Fields& fields) {
  ObjectRef ref{.kind = fields.needed_text("kind").value, .to = fields.reference(), .span = fields.span()};
  if (const auto group = fields.text("apiGroup")) ref.group = group->value;
  ref.kind_span = fields.node("kind").span();
  return ref;
}

IngressBackend backend(const Fields& fields, const std::string& field, Report& report) {
  IngressBackend out{.span = fields.span()};
  if (const Fields service = fields.object("service")) {
    out.service = service.text("name");
    const Fields port = service.object("port");
    const auto number = port.integer("number");
    const auto name = port.text("name");
    if (number && name) {
      report.fault(DiagnosticCode::kExclusiveFields, name->span, field + ".service.port.name",
                   "`number` and `name` of a port exclude each other");
    }
    if (number) out.port = {{.number = static_cast<std::uint16_t>(number->value)}, number->span};
    if (name && !number) out.port = {{.name = name->value}, name->span};
    if (!number && !name) {
      report.fault(DiagnosticCode::kMissingField, service.span(), field + ".service.port",
                   "one of `number` and `name` of the port is required");
    }
  }
  if (const Fields resource = fields.object("resource")) out.resource = resource_ref(resource);
  if (out.service.has_value() == out.resource.has_value()) {
    report.fault(out.service ? DiagnosticCode::kExclusiveFields : DiagnosticCode::kMissingField, fields.span(), field,
                 "a backend is one of `service` and `resource`");
  }
  return out;
}

IngressRule rule(const Fields& fields, std::size_t index, Report& report) {
  IngressRule out{.span = fields.span(), .host = fields.hostname("host")};
  fields.object("http").entries("paths", [&](const Fields& entry) {
    const std::string field =
        "spec.rules[" + std::to_string(index) + "].http.paths[" + std::to_string(out.paths.size()) + "]";
    IngressPath path{.span = entry.span(),
                     .path = entry.text("path"),
                     .type = entry.needed_text("pathType"),
                     .backend = backend(entry.object("backend"), field + ".backend", report)};
    const bool needed = path.type.value != "ImplementationSpecific";
    if (needed && (!path.path || !path.path->value.starts_with('/'))) {
      report.fault(DiagnosticCode::kInvalidValue, path.path ? path.path->span : entry.span(), field + ".path",
                   "a path of type " + path.type.value + " begins with `/`");
    }
    out.paths.push_back(std::move(path));
  });
  return out;
}

}  // namespace

Ingress decode_ingress(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  Ingress out{.metadata = std::move(metadata), .class_name = spec.text("ingressClassName")};
  const std::string prefix = std::string(schemas::kApiGroup) + "/";
  if (const yaml::Node annotations = root.object("metadata").node("annotations")) {
    for (const yaml::Node entry : annotations) {
      if (entry.is_null()) continue;
      // The form of before IngressClass existed; what the field says goes first.
      if (entry.key() == "kubernetes.io/ingress.class" && !out.class_name) {
        out.class_name = Located<std::string>{std::string(entry.text()), entry.span()};
      }
      const auto begins = [&](std::string_view foreign) { return entry.key().starts_with(foreign); };
      if (std::ranges::any_of(kForeignPrefixes, begins)) {
        out.foreign.push_back(
            {.name = {std::string(entry.key()), entry.key_span()}, .value = {std::string(entry.text()), entry.span()}});
      }
      if (!entry.key().starts_with(prefix)) continue;
      out.annotations.push_back({.name = {std::string(entry.key().substr(prefix.size())), entry.key_span()},
                                 .value = {std::string(entry.text()), entry.span()}});
    }
  }
  if (const Fields fallback = spec.object("defaultBackend")) {
    out.default_backend = backend(fallback, "spec.defaultBackend", report);
  }
  spec.entries("rules", [&](const Fields& entry) { out.rules.push_back(rule(entry, out.rules.size(), report)); });
  spec.entries("tls", [&](const Fields& entry) {
    out.tls.push_back({.span = entry.span(), .hosts = entry.hostnames("hosts"), .secret = entry.text("secretName")});
  });
  return out;
}

IngressClass decode_ingress_class(const Fields& root, Metadata metadata) {
  const Fields spec = root.object("spec");
  IngressClass out{.metadata = std::move(metadata), .controller = spec.needed_text("controller")};
  if (const Fields parameters = spec.object("parameters")) out.parameters = resource_ref(parameters);
  const Fields annotations = root.object("metadata").object("annotations");
  const auto is_default = annotations.text("ingressclass.kubernetes.io/is-default-class");
  out.is_default = is_default && is_default->value == "true";
  return out;
}

}  // namespace edge::compiler::model
