#include "agent/sync/received_addresses.h"

#include <cstring>

#include "agent/vip/datagram.h"
#include "base/resource_id.h"
#include "daemon/admin.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

constexpr int kMaxMembers = 4096;
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxKey = 256;
constexpr unsigned kMaxPrefix = 128;

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
                       !from.name().empty() && from.name().size() <= kMaxName && from.namespace_().size() <= kMaxName &&
                       from.interface().size() <= kMaxName;
    if (!sound) continue;
    std::memcpy(address.address.bytes.data(), from.address().data(), address.address.bytes.size());
    address.id = ResourceId::of("ProxyVIP", from.namespace_(), from.name()).stable_id();
    address.name_space = from.namespace_();
    address.name = from.name();
    address.prefix_length = static_cast<std::uint8_t>(from.prefix_length());
    address.mode = from.mode() == v1::VirtualAddress::LAYER2 ? vip::Mode::kLayer2 : vip::Mode::kBgp;
    address.interface = from.interface();
    address.min_healthy_nodes = from.min_healthy_nodes();
    address.epoch = from.epoch();
    for (const auto& [key, value] : from.node_selector()) {
      if (address.node_selector.size() < kMaxLabels) address.node_selector.emplace(key, value);
    }
    all.addresses.push_back(std::move(address));
  }
  for (const v1::Member& from : down.members()) {
    const auto reached = daemon::parse_listen_address(from.address());
    if (!reached || reached->port == 0 || from.name().empty() || from.name().size() > kMaxName) continue;
    all.members.push_back({from.name(), {reached->address, reached->port}});
  }
  return all;
}

}  // namespace edge::agent
