// The identity of a resource: cluster, kind, namespace, name. It is looked up, counted, logged and told by it.
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
  /// A text that is longer is none.
  static constexpr std::size_t kMaxText = 512;

  std::string kind;
  std::string name_space{};  ///< empty: a kind of the whole cluster
  std::string name{};
  std::string cluster{};  ///< empty: one's own

  /// `name_space`: with its cluster, where it has one.
  static ResourceId of(std::string kind, std::string_view name_space, std::string name);

  /// `shop`, `berlin:shop`; `berlin:` of a kind of the whole cluster.
  std::string qualified_namespace() const;
  /// `ProxyRoute shop/cart`.
  std::string text() const;
  /// Equal identity, equal number, on every machine and in every version: what records of programs refer to it by.
  std::uint64_t stable_id() const;

  friend auto operator<=>(const ResourceId&, const ResourceId&) = default;
};

/// `shop/cart`, `berlin:shop/cart`; the name alone, or `berlin:main`, of a kind of the whole cluster. `name_space`:
/// with its cluster, where it has one.
std::string resource_path(std::string_view name_space, std::string_view name);
/// The kind, then `resource_path`.
std::string resource_text(std::string_view kind, std::string_view name_space, std::string_view name);

/// Of a text as above. kInvalidArgument when a part is missing, too long, or has what no such name has.
Result<ResourceId> parse_resource_id(std::string_view text);

/// Lower-case letters, digits and `-`, not at the ends; at most 63 (RFC 1123): clusters and namespaces.
bool is_cluster_name(std::string_view name);

/// A name before which its cluster stands: `edge-1`, `berlin:edge-1`.
struct QualifiedName {
  std::string_view cluster;  ///< empty: one's own
  std::string_view name;
};
/// Checks nothing: what stands before the first colon is the cluster.
QualifiedName split_cluster(std::string_view text);
std::string with_cluster(std::string_view cluster, std::string_view name);

}  // namespace edge
