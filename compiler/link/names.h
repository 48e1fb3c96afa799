// Resources by name: doubles, references and the grants that let them cross namespaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

/// `namespace/name` -> position.
class NameIndex {
 public:
  void reserve(std::size_t count) { positions_.reserve(count); }
  void add(std::string_view name_space, std::string_view name, std::uint32_t position) {
    positions_.emplace(key(name_space, name), position);
  }
  std::optional<std::uint32_t> find(std::string_view name_space, std::string_view name) const {
    const auto found = positions_.find(key(name_space, name));
    if (found == positions_.end()) return std::nullopt;
    return found->second;
  }
  /// The names of one namespace, for "did you mean".
  std::string nearest(std::string_view name_space, std::string_view name) const;

 private:
  static std::string key(std::string_view name_space, std::string_view name) {
    std::string out;
    out.reserve(name_space.size() + name.size() + 1);
    out.append(name_space).append("/").append(name);
    return out;
  }
  std::unordered_map<std::string, std::uint32_t> positions_;
};

/// The order in which claims are granted: older first, then by name. Resources without a time count as oldest.
bool holds_before(const model::Metadata& a, const model::Metadata& b);

void report_double(const model::Metadata& kept, const model::Metadata& dropped, Diagnostics& diagnostics);

/// Sorts by namespace and name and drops doubles: the older is kept, of equally old ones the first read.
template <typename Resource>
void sort_and_drop_doubles(std::vector<Resource>& resources, Diagnostics& diagnostics) {
  // Sorts positions, not resources: these are large.
  std::vector<std::uint32_t> order(resources.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const model::Metadata& x = resources[a].metadata;
    const model::Metadata& y = resources[b].metadata;
    if (const int by_space = x.name_space.compare(y.name_space); by_space != 0) return by_space < 0;
    if (const int by_name = x.name.compare(y.name); by_name != 0) return by_name < 0;
    if (x.created != y.created) return x.created < y.created;
    return a < b;
  });
  std::vector<Resource> sorted;
  sorted.reserve(resources.size());
  for (const std::uint32_t position : order) {
    Resource& next = resources[position];
    if (!sorted.empty() && sorted.back().metadata.name == next.metadata.name &&
        sorted.back().metadata.name_space == next.metadata.name_space) {
      report_double(sorted.back().metadata, next.metadata, diagnostics);
      continue;
    }
    sorted.push_back(std::move(next));
  }
  resources = std::move(sorted);
}

template <typename Resource>
NameIndex index_of(const std::vector<Resource>& resources) {
  NameIndex index;
  index.reserve(resources.size());
  for (std::uint32_t i = 0; i < resources.size(); ++i) {
    index.add(resources[i].metadata.name_space, resources[i].metadata.name, i);
  }
  return index;
}

/// Which namespaces may be referred into.
class Grants {
 public:
  explicit Grants(const std::vector<model::ReferenceGrant>& grants);

  /// Whether a resource of `from_kind` in `from_space` may refer to `to_kind` `name` in `to_space`. Always so within
  /// one namespace.
  bool allow(std::string_view from_kind, std::string_view from_space, std::string_view to_kind,
             std::string_view to_space, std::string_view name) const;

 private:
  std::unordered_map<std::string, std::vector<const model::ReferenceGrant*>> by_space_;
};

/// Resources that were left out because of their faults: `Kind namespace/name` -> place.
using Refused = std::unordered_map<std::string, Span>;

/// What every resolver of one link needs.
struct Scope {
  const Grants& grants;
  const Refused& refused;
  Diagnostics& diagnostics;
};

/// Resolves one kind of reference and says what is wrong with it.
class Resolver {
 public:
  Resolver(std::string_view kind, const NameIndex& index, const Scope& scope)
      : kind_(kind), index_(index), scope_(scope) {}

  /// `field` is called only when there is a fault.
  template <typename FieldText>
  std::optional<std::uint32_t> resolve(const model::Metadata& from, const model::Reference& reference,
                                       FieldText field) const {
    const std::string_view space =
        reference.name_space.empty() ? from.name_space : std::string_view(reference.name_space);
    if (space != from.name_space &&
        !scope_.grants.allow(from.kind, from.name_space, kind_, space, reference.name.value)) {
      not_allowed(from, reference, field());
      return std::nullopt;
    }
    const auto found = index_.find(space, reference.name.value);
    if (!found) unknown(from, reference, space, field());
    return found;
  }

 private:
  void not_allowed(const model::Metadata& from, const model::Reference& reference, std::string field) const;
  void unknown(const model::Metadata& from, const model::Reference& reference, std::string_view space,
               std::string field) const;

  std::string_view kind_;
  const NameIndex& index_;
  Scope scope_;
};

/// A warning: accepted, but this version does not do it.
void not_served(const model::Metadata& resource, Span span, std::string field, std::string message,
                Diagnostics& diagnostics);

}  // namespace edge::compiler::link
