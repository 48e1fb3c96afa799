#include "compiler/link/names.h"

#include <cstdlib>

#include "schemas/schema.h"

namespace edge::compiler::link {
namespace {

/// Of the kinds that refer and are referred to.
std::string_view group_of(std::string_view kind) {
  if (kind == "Service" || kind == "Secret" || kind == "ConfigMap" || kind == "Namespace") return {};
  if (kind == "ServiceExport" || kind == "ServiceImport") return "multicluster.x-k8s.io";
  if (kind == "Ingress" || kind == "IngressClass") return "networking.k8s.io";
  for (const std::string_view foreign :
       {"Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", "BackendTLSPolicy"}) {
    if (kind == foreign) return "gateway.networking.k8s.io";
  }
  return schemas::kApiGroup;
}

std::string space_key(std::string_view kind, std::string_view name_space) {
  std::string key;
  key.reserve(kind.size() + name_space.size() + 1);
  key.append(kind).append(" ").append(name_space);
  return key;
}

}  // namespace

void NameIndex::add(std::string_view kind, std::string_view name_space, std::string_view name, std::uint32_t position) {
  spaces_[space_key(kind, name_space)].emplace(name, position);
}

void NameIndex::remove(std::string_view kind, std::string_view name_space, std::string_view name) {
  const auto space = spaces_.find(space_key(kind, name_space));
  if (space == spaces_.end()) return;
  const auto found = space->second.find(name);
  if (found != space->second.end()) space->second.erase(found);
}

const NameIndex::Names* NameIndex::names_of(std::string_view kind, std::string_view name_space) const {
  const auto space = spaces_.find(space_key(kind, name_space));
  return space == spaces_.end() ? nullptr : &space->second;
}

std::optional<std::uint32_t> NameIndex::find(std::string_view kind, std::string_view name_space,
                                             std::string_view name) const {
  const Names* names = names_of(kind, name_space);
  if (names == nullptr) return std::nullopt;
  const auto found = names->find(name);
  if (found == names->end()) return std::nullopt;
  return found->second;
}

std::string NameIndex::nearest(std::string_view kind, std::string_view name_space, std::string_view name) const {
  // Only for messages, so a scan will do; bounded, as a hostile file may hold very many of both.
  constexpr std::size_t kMostLooked = 2000;
  const Names* names = names_of(kind, name_space);
  if (names == nullptr || names->size() > kMostLooked) return {};
  std::vector<std::string_view> candidates;
  for (const auto& [candidate, position] : *names) candidates.push_back(candidate);
  // The map has no order of its own; the answer must not depend on it.
  std::sort(candidates.begin(), candidates.end());
  return std::string(nearest_name(name, candidates));
}

bool holds_before(const model::Metadata& a, const model::Metadata& b) {
  return std::tie(a.created, a.name_space, a.name, a.kind) < std::tie(b.created, b.name_space, b.name, b.kind);
}

void report_double(const model::Metadata& kept, const model::Metadata& dropped, Diagnostics& diagnostics) {
  const bool older = kept.created < dropped.created;
  diagnostics.add({.code = DiagnosticCode::kDuplicateResource,
                   .resource = dropped.text(),
                   .field = "metadata.name",
                   .span = dropped.span,
                   .message = "the resource is given twice; this one is left out",
                   .labels = {{kept.span, older ? "the older one holds" : "this one holds"}},
                   .notes = older ? std::vector<std::string>()
                                  : std::vector<std::string>{"both are of one age, so their content decides, whatever "
                                                             "the order of the files"},
                   .fix = "give it another name or namespace, or remove one of them"});
}

Grants::Grants(const std::vector<model::ReferenceGrant>& grants) {
  for (const model::ReferenceGrant& grant : grants) by_space_[grant.metadata.name_space].push_back(&grant);
}

bool Grants::allow(std::string_view from_kind, std::string_view from_space, std::string_view to_kind,
                   std::string_view to_space, std::string_view name) const {
  if (from_space == to_space) return true;
  const auto found = by_space_.find(to_space);
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

}  // namespace edge::compiler::link
