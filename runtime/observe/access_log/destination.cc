#include "runtime/observe/access_log/destination.h"

#include <algorithm>

namespace edge::runtime {
namespace {

/// Longer names do not come; a place must fit into an entry uncut.
constexpr std::size_t kMostName = 512;

void add_name(std::string_view key, std::string_view space, std::string_view name, std::string& out) {
  if (name.empty()) return;
  out.append(",\"").append(key).append("\":\"");
  const std::size_t begin = out.size();
  if (!space.empty()) out.append(space.substr(0, kMostName)).append("/");
  out.append(name.substr(0, kMostName));
  const auto foreign = [](char c) { return c <= 0x20 || c >= 0x7f || c == '"' || c == '\\'; };
  std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), foreign, '?');
  out.append("\"");
}

}  // namespace

std::string destination_text(const DestinationNames& names) {
  std::string out;
  add_name("gateway", names.gateway_space, names.gateway, out);
  add_name("listener", {}, names.listener, out);
  add_name("route", names.route_space, names.route, out);
  if (names.rule != program::kNone) out.append(",\"rule\":").append(std::to_string(names.rule));
  add_name("backend", names.backend_space, names.backend, out);
  return out;
}

void append_cluster(const EndpointCluster& cluster, std::string& destination) {
  add_name("cluster", {}, cluster.name, destination);
  destination.append(",\"cluster_priority\":").append(std::to_string(cluster.priority));
  add_name("cluster_region", {}, cluster.region, destination);
}

// Quotes and commas stand between members alone.
std::string_view destination_member(std::string_view destination, std::string_view key) {
  while (!destination.empty()) {
    destination.remove_prefix(2);  // a comma and the key's quote
    const std::size_t colon = destination.find('"') + 1;
    const bool wanted = destination.substr(0, colon - 1) == key;
    destination.remove_prefix(colon + 1);
    const bool quoted = destination.starts_with('"');
    if (quoted) destination.remove_prefix(1);
    const std::size_t end = std::min(destination.find(quoted ? '"' : ','), destination.size());
    if (wanted) return destination.substr(0, end);
    destination.remove_prefix(end + (quoted ? 1 : 0));
  }
  return {};
}

std::size_t DestinationTexts::Hash::operator()(const Key& key) const {
  // Records lie at multiples of their size: the low bits tell little.
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  const auto bits = [](const void* address) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  };
  std::uint64_t mixed = (bits(key.listener) * kOdd) ^ bits(key.action);
  mixed = (mixed * kOdd) ^ bits(key.backend);
  mixed *= kOdd;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

std::string_view DestinationTexts::add(const Key& key, const DestinationNames& names) {
  if (texts_.size() >= kMost) texts_.clear();
  return texts_.emplace(key, destination_text(names)).first->second;
}

}  // namespace edge::runtime
