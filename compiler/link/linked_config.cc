#include "compiler/link/linked_config.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "program/claim_field.h"

namespace edge::compiler {
namespace {

constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

bool is_for(const LinkedGateway& gateway, std::string_view group) {
  return gateway.agent_groups.empty() || std::ranges::binary_search(gateway.agent_groups, group);
}

}  // namespace

std::vector<std::string> agent_groups(const LinkedConfig& config) {
  std::set<std::string> groups;
  for (const LinkedGateway& gateway : config.gateways) {
    groups.insert(gateway.agent_groups.begin(), gateway.agent_groups.end());
  }
  return {groups.begin(), groups.end()};
}

namespace {

/// What `keeps` says of a listener, with the gateways of `serves` and the routes on both.
template <typename Serves, typename Keeps>
LinkedConfig part_of(const LinkedConfig& config, Serves serves, Keeps keeps) {
  LinkedConfig part = config;
  part.gateways.clear();
  part.listeners.clear();
  std::vector<std::uint32_t> gateways(config.gateways.size(), kGone);
  for (std::uint32_t i = 0; i < config.gateways.size(); ++i) {
    if (!serves(config.gateways[i])) continue;
    gateways[i] = static_cast<std::uint32_t>(part.gateways.size());
    part.gateways.push_back(config.gateways[i]);
  }
  std::vector<std::uint32_t> listeners(config.listeners.size(), kGone);
  for (std::uint32_t i = 0; i < config.listeners.size(); ++i) {
    const std::uint32_t gateway = gateways[config.listeners[i].gateway];
    if (gateway == kGone || !keeps(config.listeners[i])) continue;
    listeners[i] = static_cast<std::uint32_t>(part.listeners.size());
    part.listeners.push_back(config.listeners[i]);
    part.listeners.back().gateway = gateway;
    part.listeners.back().overlaps = false;
  }
  for (LinkedRoute& route : part.routes) {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t listener : route.listeners) {
      if (listeners[listener] != kGone) kept.push_back(listeners[listener]);
    }
    route.listeners = std::move(kept);
  }
  return part;
}

}  // namespace

LinkedConfig config_of_group(const LinkedConfig& config, std::string_view group) {
  return part_of(
      config, [&](const LinkedGateway& gateway) { return is_for(gateway, group); },
      [](const LinkedListener&) { return true; });
}

void count_attached_routes(const LinkedConfig& config, std::vector<ResourceStatus>& statuses) {
  std::vector<std::uint32_t> counts(config.listeners.size(), 0);
  for (const LinkedRoute& route : config.routes) {
    for (const std::uint32_t listener : route.listeners) ++counts[listener];
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const LinkedListener& listener = config.listeners[i];
    const Identity& gateway = config.gateways[listener.gateway].identity;
    const ResourceStatus* const found =
        listener.set_name.empty() ? find_status(statuses, gateway.kind, gateway.name_space, gateway.name)
                                  : find_status(statuses, "ListenerSet", listener.set_space, listener.set_name);
    if (found == nullptr) continue;
    // No listener has a slash in the name that it was written with.
    const std::string_view name = std::string_view(listener.name).substr(listener.name.rfind('/') + 1);
    auto& listeners = statuses[static_cast<std::size_t>(found - statuses.data())].listeners;
    const auto counted = std::ranges::find(listeners, name, &ListenerStatus::name);
    if (counted != listeners.end()) counted->attached_routes = counts[i];
  }
}

std::string matched_field(const LinkedListener& listener, const std::string& header) {
  const auto claimed = std::ranges::find(listener.claimed_headers, header, &ClaimHeader::header);
  return claimed == listener.claimed_headers.end() ? header : program::claim_field(claimed->claim);
}

std::uint32_t variant_for(const LinkedGateway& gateway, std::uint32_t backend) {
  const auto found = std::ranges::lower_bound(gateway.variants, backend, {}, &BackendVariant::backend);
  return found == gateway.variants.end() || found->backend != backend ? backend : found->variant;
}

bool has_overlaps(const LinkedConfig& config) {
  return std::ranges::any_of(config.listeners, &LinkedListener::overlaps);
}

LinkedConfig config_without_overlaps(const LinkedConfig& config) {
  return part_of(
      config, [](const LinkedGateway&) { return true; }, [](const LinkedListener& one) { return !one.overlaps; });
}

}  // namespace edge::compiler
