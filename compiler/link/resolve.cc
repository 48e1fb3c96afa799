#include "compiler/link/resolve.h"

#include <utility>

namespace edge::compiler::link {

bool Resolver::allowed(const model::Metadata& from, std::string_view kind, std::string_view space,
                       const model::Reference& reference, Findings& findings) const {
  findings.depends_on("ReferenceGrant", space, "*");
  // A backend that stands for one port of a Service is called `service:port`; the grant speaks of the service.
  std::string_view name = reference.name.value;
  if (kind == "Service") name = name.substr(0, name.find(':'));
  return scope_.grants.allow(from.kind, from.name_space, kind, space, name);
}

void Resolver::not_allowed(const model::Metadata& from, std::string_view kind, const model::Reference& reference,
                           std::string field, Findings& findings) {
  findings.diagnostics.add({.code = DiagnosticCode::kReferenceNotAllowed,
                            .resource = from.text(),
                            .field = std::move(field),
                            .span = reference.name.span,
                            .message = "the " + std::string(kind) + " `" + reference.name_space + "/" +
                                       reference.name.value +
                                       "` is in another namespace, and no ReferenceGrant there allows the reference",
                            .fix = "add a ReferenceGrant in the namespace `" + reference.name_space + "` from " +
                                   from.kind + " of `" + from.name_space + "` to " + std::string(kind)});
}

void Resolver::unknown(const model::Metadata& from, std::string_view kind, const model::Reference& reference,
                       std::string_view space, std::string field, Findings& findings) const {
  Diagnostic diagnostic{.code = DiagnosticCode::kUnknownReference,
                        .resource = from.text(),
                        .field = std::move(field),
                        .span = reference.name.span};
  const auto refused = scope_.refused.find(resource_text(kind, space, reference.name.value));
  if (refused != scope_.refused.end()) {
    diagnostic.message =
        "the " + std::string(kind) + " `" + reference.name.value + "` is left out because of its own faults";
    diagnostic.labels = {{refused->second, "this one"}};
    findings.diagnostics.add(std::move(diagnostic));
    return;
  }
  diagnostic.message = "there is no " + std::string(kind) + " `" + reference.name.value + "` in the namespace `" +
                       std::string(space) + "`";
  // Where diagnostics are dropped already, nobody would read the answer of the search.
  if (findings.near_names_left > 0 && findings.diagnostics.dropped() == 0) {
    --findings.near_names_left;
    findings.depends_on(kind, space, "*");
    const std::string near = index_.nearest(kind, space, reference.name.value);
    if (!near.empty()) diagnostic.fix = "did you mean `" + near + "`?";
  }
  if (diagnostic.fix.empty() && kind == "Secret") {
    diagnostic.fix = "create it: `edgectl create secret generic " + reference.name.value + " -n " + std::string(space) +
                     " --from-file KEY=FILE`, or `create secret tls` for a certificate and its key";
  }
  findings.diagnostics.add(std::move(diagnostic));
}

void not_served(const model::Metadata& resource, Span span, std::string field, std::string message,
                Diagnostics& diagnostics) {
  diagnostics.add({.code = DiagnosticCode::kNotServed,
                   .severity = Severity::kWarning,
                   .resource = resource.text(),
                   .field = std::move(field),
                   .span = span,
                   .message = std::move(message)});
}

void fail(std::vector<Condition>& conditions, std::string_view type, std::string_view reason, std::string message) {
  set_condition(conditions, {std::string(type), ConditionStatus::kFalse, std::string(reason), std::move(message)});
}

}  // namespace edge::compiler::link
