// The identity of a resource: cluster, kind, namespace, name, used for lookups, counters, logs and messages.
//
// In text it is `Kind [cluster:][namespace/]name`: `ProxyRoute shop/cart` is one's own, `ProxyRoute berlin:shop/cart`
// is one of the cluster `berlin`. Where kind, namespace and name stand apart (records of a program, messages of
// schemas/agent.proto, labels of metrics), the namespace has the cluster before it: `berlin:shop`. No cluster and no
// namespace has a colon, so that nobody can write an own resource that reads as another cluster's.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge {

struct ResourceId {
  /// Longer texts are invalid.
  static constexpr std::size_t kMaxText = 512;

  std::string kind;
  std::string name_space{};  ///< empty: cluster-scoped
  std::string name{};
  std::string cluster{};  ///< empty: the own cluster

  /// `name_space`: with its cluster, if it has one.
  static ResourceId of(std::string kind, std::string_view name_space, std::string name);

  /// Returns `shop`, `berlin:shop`; `berlin:` for a cluster-scoped kind.
  std::string qualified_namespace() const;
  /// Returns `ProxyRoute shop/cart`.
  std::string text() const;
  /// Equal identity, equal number, on every machine and in every version: the reference in program records.
  std::uint64_t stable_id() const;

  friend auto operator<=>(const ResourceId&, const ResourceId&) = default;
};

/// Returns `shop/cart`, `berlin:shop/cart`; only the name, or `berlin:main`, for a cluster-scoped kind. `name_space`:
/// with its cluster, if it has one.
std::string resource_path(std::string_view name_space, std::string_view name);
/// Returns the kind, then `resource_path`.
std::string resource_text(std::string_view kind, std::string_view name_space, std::string_view name);

/// Parses a text as above. kInvalidArgument when a part is missing, too long, or contains invalid characters.
Result<ResourceId> parse_resource_id(std::string_view text);

/// Returns whether a text is a name of clusters and namespaces: lower-case letters, digits and `-`, not at the ends; at
/// most 63 (RFC 1123).
bool is_cluster_name(std::string_view name);

/// A name with an optional cluster: `edge-1`, `berlin:edge-1`.
struct QualifiedName {
  std::string_view cluster;  ///< empty: the own cluster
  std::string_view name;
};
/// Validates nothing: the part before the first colon is the cluster.
QualifiedName split_cluster(std::string_view text);
std::string with_cluster(std::string_view cluster, std::string_view name);

}  // namespace edge
