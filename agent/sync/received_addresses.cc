#include "agent/sync/received_addresses.h"

#include <cstring>
#include <utility>

#include "agent/vip/datagram.h"
#include "base/labels.h"
#include "base/resource_id.h"
#include "daemon/admin.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

constexpr int kMaxMembers = 4096;
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxAddressName = kMaxName + 1 + 45;  ///< of a pool: its name and the address
constexpr std::size_t kMaxKey = 256;
constexpr std::size_t kMaxFault = 1024;
constexpr unsigned kMaxPrefix = 128;

bool read_ip(const std::string& bytes, IpAddress& into) {
  if (bytes.size() != into.bytes.size()) return false;
  std::memcpy(into.bytes.data(), bytes.data(), bytes.size());
  return true;
}

/// What is no peer in it is left out. What BIRD would misread is found where its configuration is written.
bgp::Settings read_bgp(const v1::Bgp& from) {
  bgp::Settings settings{.local_as = from.local_as(),
                         .router_id = from.router_id(),
                         .communities = {},
                         .hold_seconds = from.hold_seconds(),
                         .keepalive_seconds = from.keepalive_seconds(),
                         .connect_retry_seconds = from.connect_retry_seconds(),
                         .bfd = from.bfd(),
                         .bfd_interval_ms = from.bfd_interval_ms(),
                         .bfd_multiplier = from.bfd_multiplier(),
                         .graceful_restart = from.graceful_restart(),
                         .graceful_restart_seconds = from.graceful_restart_seconds(),
                         .peers = {}};
  if (from.has_med()) settings.med = from.med();
  if (from.has_local_preference()) settings.local_preference = from.local_preference();
  for (const std::string& community : from.communities()) {
    if (settings.communities.size() < bgp::kMaxCommunities) settings.communities.push_back(community);
  }
  for (const v1::BgpPeer& one : from.peers()) {
    bgp::Peer peer;
    constexpr unsigned kMostPort = 65535;
    constexpr unsigned kMostHops = 255;
    const bool sound = read_ip(one.address(), peer.address) && one.port() <= kMostPort && one.multihop() <= kMostHops &&
                       one.password().size() <= kMaxKey && one.fault().size() <= kMaxFault;
    if (!sound || settings.peers.size() >= bgp::kMaxPeers) continue;
    peer.as_number = one.as_number();
    peer.port = static_cast<std::uint16_t>(one.port());
    peer.password = one.password();
    peer.fault = one.fault();
    peer.multihop = static_cast<std::uint8_t>(one.multihop());
    if (IpAddress source; read_ip(one.source_address(), source)) peer.source = source;
    settings.peers.push_back(std::move(peer));
  }
  return settings;
}

}  // namespace

Result<vip::Addresses> read_addresses(const std::string& message) {
  v1::AddressesDown down;
  if (!down.ParseFromString(message)) return Error{ErrorCode::kInvalidArgument, "addresses that are none"};
  if (down.addresses_size() > static_cast<int>(vip::kMaxAddresses) || down.members_size() > kMaxMembers ||
      down.key().size() > kMaxKey) {
    return Error{ErrorCode::kResourceExhausted, "too many addresses"};
  }
  vip::Addresses all{.version = down.version(), .addresses = {}, .members = {}, .key = down.key()};
  for (const v1::VirtualAddress& from : down.addresses()) {
    vip::VirtualAddress address;
    const bool sound = from.address().size() == address.address.bytes.size() && from.prefix_length() <= kMaxPrefix &&
                       !from.name().empty() && from.name().size() <= kMaxAddressName &&
                       from.namespace_().size() <= kMaxName && from.interface().size() <= kMaxName;
    if (!sound) continue;
    std::memcpy(address.address.bytes.data(), from.address().data(), address.address.bytes.size());
    const bool site = from.mode() == v1::VirtualAddress::SITE;
    address.id = ResourceId::of(site ? "Site" : "ProxyVIP", from.namespace_(), from.name()).stable_id();
    address.name_space = from.namespace_();
    address.name = from.name();
    address.prefix_length = static_cast<std::uint8_t>(from.prefix_length());
    address.mode = site                                        ? vip::Mode::kSite
                   : from.mode() == v1::VirtualAddress::LAYER2 ? vip::Mode::kLayer2
                                                               : vip::Mode::kBgp;
    address.interface = from.interface();
    address.min_healthy_nodes = from.min_healthy_nodes();
    address.epoch = from.epoch();
    if (from.has_bgp()) address.bgp = read_bgp(from.bgp());
    for (const auto& [key, value] : from.node_selector()) {
      if (address.node_selector.size() < kMaxLabels) address.node_selector.emplace(key, value);
    }
    all.addresses.push_back(std::move(address));
  }
  for (const auto& [key, value] : down.node_labels()) {
    const bool sound = is_label_key(key) && is_label_value(value);
    if (sound && all.node_labels.size() < kMaxLabels) all.node_labels.emplace(key, value);
  }
  for (const v1::Member& from : down.members()) {
    const auto reached = daemon::parse_listen_address(from.address());
    if (!reached || reached->port == 0 || from.name().empty() || from.name().size() > kMaxName) continue;
    all.members.push_back({from.name(), {reached->address, reached->port}});
  }
  return all;
}

}  // namespace edge::agent
