#include "compiler/link/names.h"

#include <tuple>

#include "schemas/schema.h"

namespace edge::compiler::link {
namespace {

/// Of the kinds that references go to.
std::string_view group_of(std::string_view kind) {
  return kind == "Service" || kind == "Secret" ? std::string_view() : schemas::kApiGroup;
}

}  // namespace

std::string NameIndex::nearest(std::string_view name_space, std::string_view name) const {
  // Only for messages, so a scan will do; bounded, as a hostile file may hold very many of both.
  constexpr std::size_t kMostLooked = 5000;
  std::vector<std::string_view> names;
  for (const auto& [text, position] : positions_) {
    const std::string_view view = text;
    const std::size_t slash = view.find('/');
    if (view.substr(0, slash) == name_space) names.push_back(view.substr(slash + 1));
    if (names.size() > kMostLooked) return {};
  }
  // The map has no order of its own; the answer must not depend on it.
  std::sort(names.begin(), names.end());
  return std::string(nearest_name(name, names));
}

bool holds_before(const model::Metadata& a, const model::Metadata& b) {
  return std::tie(a.created, a.name_space, a.name) < std::tie(b.created, b.name_space, b.name);
}

void report_double(const model::Metadata& kept, const model::Metadata& dropped, Diagnostics& diagnostics) {
  diagnostics.add({.code = DiagnosticCode::kDuplicateResource,
                   .resource = dropped.text(),
                   .field = "metadata.name",
                   .span = dropped.span,
                   .message = "the resource is given twice; this one is left out",
                   .labels = {{kept.span, kept.created < dropped.created ? "the older one holds" : "first given here"}},
                   .fix = "give it another name or namespace, or remove one of them"});
}

Grants::Grants(const std::vector<model::ReferenceGrant>& grants) {
  for (const model::ReferenceGrant& grant : grants) by_space_[grant.metadata.name_space].push_back(&grant);
}

bool Grants::allow(std::string_view from_kind, std::string_view from_space, std::string_view to_kind,
                   std::string_view to_space, std::string_view name) const {
  if (from_space == to_space) return true;
  const auto found = by_space_.find(std::string(to_space));
  if (found == by_space_.end()) return false;
  for (const model::ReferenceGrant* grant : found->second) {
    const bool from = std::any_of(grant->from.begin(), grant->from.end(), [&](const model::GrantFrom& entry) {
      return entry.group == group_of(from_kind) && entry.kind == from_kind && entry.name_space == from_space;
    });
    const bool to = std::any_of(grant->to.begin(), grant->to.end(), [&](const model::GrantTo& entry) {
      return entry.group == group_of(to_kind) && entry.kind == to_kind && (entry.name.empty() || entry.name == name);
    });
    if (from && to) return true;
  }
  return false;
}

void Resolver::not_allowed(const model::Metadata& from, const model::Reference& reference, std::string field) const {
  scope_.diagnostics.add({.code = DiagnosticCode::kReferenceNotAllowed,
                          .resource = from.text(),
                          .field = std::move(field),
                          .span = reference.name.span,
                          .message = "the " + std::string(kind_) + " `" + reference.name_space + "/" +
                                     reference.name.value +
                                     "` is in another namespace, and no ReferenceGrant there allows the reference",
                          .fix = "add a ReferenceGrant in the namespace `" + reference.name_space + "` from " +
                                 from.kind + " of `" + from.name_space + "` to " + std::string(kind_)});
}

void Resolver::unknown(const model::Metadata& from, const model::Reference& reference, std::string_view space,
                       std::string field) const {
  const auto refused = scope_.refused.find(std::string(kind_) + " " + std::string(space) + "/" + reference.name.value);
  if (refused != scope_.refused.end()) {
    scope_.diagnostics.add({.code = DiagnosticCode::kUnknownReference,
                            .resource = from.text(),
                            .field = std::move(field),
                            .span = reference.name.span,
                            .message = "the " + std::string(kind_) + " `" + reference.name.value +
                                       "` is left out because of its own faults",
                            .labels = {{refused->second, "this one"}}});
    return;
  }
  // Looking for a near name is a scan; a text with very many slips gets no more of them.
  const bool few = scope_.diagnostics.errors() < 100;
  const std::string near = few ? index_.nearest(space, reference.name.value) : std::string();
  scope_.diagnostics.add({.code = DiagnosticCode::kUnknownReference,
                          .resource = from.text(),
                          .field = std::move(field),
                          .span = reference.name.span,
                          .message = "there is no " + std::string(kind_) + " `" + reference.name.value +
                                     "` in the namespace `" + std::string(space) + "`",
                          .fix = near.empty() ? "" : "did you mean `" + near + "`?"});
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

}  // namespace edge::compiler::link
