#include "base/resource_id.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace edge {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxName = 253;

bool is_kind(std::string_view kind) {
  return !kind.empty() && kind.size() <= kMaxLabel && std::ranges::all_of(kind, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

/// A backend that stands for one port of a Service has a colon in its name.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f && c != '/'; });
}

}  // namespace

ResourceId ResourceId::of(std::string kind, std::string_view name_space, std::string name) {
  const QualifiedName parts = split_cluster(name_space);
  return {std::move(kind), std::string(parts.name), std::move(name), std::string(parts.cluster)};
}

std::string ResourceId::qualified_namespace() const { return with_cluster(cluster, name_space); }
std::string ResourceId::text() const { return resource_text(kind, qualified_namespace(), name); }
std::uint64_t ResourceId::stable_id() const { return edge::stable_id(kind, qualified_namespace(), name); }

std::string resource_path(std::string_view name_space, std::string_view name) {
  std::string path(name_space);
  if (!path.empty() && path.back() != ':') path += '/';
  return path.append(name);
}

std::string resource_text(std::string_view kind, std::string_view name_space, std::string_view name) {
  return std::string(kind) + " " + resource_path(name_space, name);
}

Result<ResourceId> parse_resource_id(std::string_view text) {
  const Error none{ErrorCode::kInvalidArgument, "no resource is called so: `Kind namespace/name` is wanted"};
  if (text.size() > ResourceId::kMaxText) return none;
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view kind = text.substr(0, space);
  std::string_view name = text.substr(std::min(space + 1, text.size()));
  const std::size_t slash = name.find('/');
  QualifiedName qualified;
  if (slash == std::string_view::npos) {
    const bool foreign = name.find(':') != std::string_view::npos;
    const QualifiedName parts = split_cluster(name);
    if (foreign && parts.cluster.empty()) return none;
    qualified.cluster = parts.cluster;
    name = parts.name;
  } else {
    qualified = split_cluster(name.substr(0, slash));
    if (qualified.cluster.empty() != (name.substr(0, slash).find(':') == std::string_view::npos)) return none;
    name = name.substr(slash + 1);
    if (!is_cluster_name(qualified.name)) return none;
  }
  if (!is_kind(kind) || !is_name(name) || (!qualified.cluster.empty() && !is_cluster_name(qualified.cluster)))
    return none;
  return ResourceId{std::string(kind), std::string(qualified.name), std::string(name), std::string(qualified.cluster)};
}

bool is_cluster_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLabel && name.front() != '-' && name.back() != '-' &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

QualifiedName split_cluster(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {{}, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string with_cluster(std::string_view cluster, std::string_view name) {
  std::string text(cluster);
  if (!text.empty()) text += ':';
  return text.append(name);
}

}  // namespace edge
