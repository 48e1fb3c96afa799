#include "controller/watched_kinds.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <nlohmann/json.hpp>

#include "controller/rights/access.h"
#include "controller/rights/statuses.h"

namespace edge::controller {
namespace {

std::string group_in(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(api_version.substr(0, slash));
}

}  // namespace

ResourceId key_of(const std::string& kind, const std::string& key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string::npos) return {kind, {}, key};
  return {kind, key.substr(0, slash), key.substr(slash + 1)};
}

std::uint64_t number_of(const std::string& version) {
  std::uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

Labels labels_in(const nlohmann::json& object) {
  Labels labels;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string() || !is_label_key(key)) continue;
    if (const auto& text = value.get_ref<const std::string&>(); is_label_value(text)) labels.emplace(key, text);
  }
  return labels;
}

bool is_needed(const schemas::Kind& kind, const kube::DiscoveryReply& reply) {
  const bool apart = kind.kind == "EdgeRemoteCluster" || is_wan_kind(kind.kind);
  if (has_status(kind.kind) && kind.own && !apart) return true;
  const std::string group = group_in(kind.api_version);
  return std::ranges::any_of(reply.unavailable, [&](const std::string& name) { return name.starts_with(group); });
}

}  // namespace edge::controller
