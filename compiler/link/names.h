// Finds resources by kind and name, and the grants for references across namespaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

/// Allows searching maps of strings by string_view.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

/// Maps `Kind namespace name` to the position in the indexed vector. Single names can be added and removed.
class NameIndex {
 public:
  /// The first of a name is kept.
  void add(std::string_view kind, std::string_view name_space, std::string_view name, std::uint32_t position);
  void add(const model::Metadata& metadata, std::uint32_t position) {
    add(metadata.kind, metadata.name_space, metadata.name, position);
  }
  void remove(std::string_view kind, std::string_view name_space, std::string_view name);
  std::optional<std::uint32_t> find(std::string_view kind, std::string_view name_space, std::string_view name) const;
  /// Returns the most similar name of this kind and namespace, for "did you mean"; empty when none is similar, or when
  /// the namespace has too many names to search.
  std::string nearest(std::string_view kind, std::string_view name_space, std::string_view name) const;

 private:
  using Names = std::unordered_map<std::string, std::uint32_t, StringHash, std::equal_to<>>;
  const Names* names_of(std::string_view kind, std::string_view name_space) const;

  /// By `Kind namespace`.
  std::unordered_map<std::string, Names, StringHash, std::equal_to<>> spaces_;
};

template <typename Resource>
NameIndex index_of(const std::vector<Resource>& resources) {
  NameIndex index;
  for (std::uint32_t i = 0; i < resources.size(); ++i) index.add(resources[i].metadata, i);
  return index;
}

/// Compares by the order in which claims are granted: older first, then by name. Resources without a time count as
/// oldest.
bool holds_before(const model::Metadata& a, const model::Metadata& b);

void report_double(const model::Metadata& kept, const model::Metadata& dropped, Diagnostics& diagnostics);

/// Of documents that claim one name that one holds for which this is least: the older, of equally old ones the one with
/// the smaller digest, so that the order of files has no effect.
inline std::tuple<std::int64_t, std::uint64_t> precedence(const model::Metadata& metadata) {
  return {metadata.created, metadata.digest};
}

/// Sorts by namespace, name and kind, and removes duplicates by precedence().
template <typename Resource>
void sort_and_drop_doubles(std::vector<Resource>& resources, Diagnostics& diagnostics) {
  // Sorts positions instead of resources, which are large.
  std::vector<std::uint32_t> order(resources.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const model::Metadata& x = resources[a].metadata;
    const model::Metadata& y = resources[b].metadata;
    if (const int by_space = x.name_space.compare(y.name_space); by_space != 0) return by_space < 0;
    if (const int by_name = x.name.compare(y.name); by_name != 0) return by_name < 0;
    if (const int by_kind = x.kind.compare(y.kind); by_kind != 0) return by_kind < 0;
    return std::tuple(precedence(x), a) < std::tuple(precedence(y), b);
  });
  std::vector<Resource> sorted;
  sorted.reserve(resources.size());
  for (const std::uint32_t position : order) {
    Resource& next = resources[position];
    if (!sorted.empty() && sorted.back().metadata.name == next.metadata.name &&
        sorted.back().metadata.name_space == next.metadata.name_space &&
        sorted.back().metadata.kind == next.metadata.kind) {
      report_double(sorted.back().metadata, next.metadata, diagnostics);
      continue;
    }
    sorted.push_back(std::move(next));
  }
  resources = std::move(sorted);
}

/// Which references into other namespaces are allowed.
class Grants {
 public:
  explicit Grants(const std::vector<model::ReferenceGrant>& grants);

  /// Returns whether a resource of `from_kind` in `from_space` may refer to `to_kind` `name` in `to_space`. Always true
  /// within one namespace.
  bool allow(std::string_view from_kind, std::string_view from_space, std::string_view to_kind,
             std::string_view to_space, std::string_view name) const;

 private:
  std::unordered_map<std::string, std::vector<const model::ReferenceGrant*>, StringHash, std::equal_to<>> by_space_;
};

/// Resources that were excluded because of errors: `Kind namespace/name` -> position.
using Refused = std::unordered_map<std::string, Span>;

}  // namespace edge::compiler::link
