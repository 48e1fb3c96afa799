#include "controller/vip/vip_index.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/model/decode.h"
#include "compiler/yaml/read.h"

namespace edge::controller {
namespace {

namespace model = compiler::model;

std::uint64_t epoch_in(const std::string& status) {
  const auto json = nlohmann::json::parse(status, nullptr, false);
  if (!json.is_object()) return 0;
  const auto epoch = json.find("epoch");
  return epoch != json.end() && epoch->is_number_unsigned() ? epoch->get<std::uint64_t>() : 0;
}

constexpr std::size_t kMaxPassword = 80;  // TCP_MD5SIG_MAXKEYLEN

/// The one resource of a document; false: it cannot be read.
bool read(const char* kind, const std::string& document, model::ResourceSet& set) {
  SourceMap sources;
  sources.add(kind, document);
  Diagnostics said;
  compiler::yaml::read_documents(sources, 0, said, {},
                                 [&](const compiler::yaml::Document& one) { model::decode(one, set, said); });
  return said.ok();
}

template <typename Value, typename Number>
void take(const model::Maybe<Value>& field, Number& into) {
  if (field) into = static_cast<Number>(field->value);
}

void take_seconds(const model::Maybe<std::chrono::nanoseconds>& field, std::uint32_t& into) {
  if (field) into = static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::seconds>(field->value).count());
}

Bgp bgp_of(const model::Bgp& from) {
  Bgp bgp;
  take(from.local_as, bgp.local_as);
  if (from.router_id) {
    constexpr std::size_t kMapped = 12;
    for (std::size_t i = kMapped; i < from.router_id->value.bytes.size(); ++i) {
      bgp.router_id = bgp.router_id << 8 | from.router_id->value.bytes[i];
    }
  }
  for (const auto& community : from.communities) bgp.communities.push_back(community.value);
  if (from.med) bgp.med = static_cast<std::uint32_t>(from.med->value);
  if (from.local_preference) bgp.local_preference = static_cast<std::uint32_t>(from.local_preference->value);
  take_seconds(from.hold_time, bgp.hold_seconds);
  take_seconds(from.keepalive_time, bgp.keepalive_seconds);
  take_seconds(from.connect_retry_time, bgp.connect_retry_seconds);
  take(from.bfd, bgp.bfd);
  if (from.bfd_interval) {
    const auto interval = std::chrono::ceil<std::chrono::milliseconds>(from.bfd_interval->value);
    bgp.bfd_interval_ms = static_cast<std::uint32_t>(interval.count());
  }
  take(from.bfd_multiplier, bgp.bfd_multiplier);
  take(from.graceful_restart, bgp.graceful_restart);
  take_seconds(from.graceful_restart_time, bgp.graceful_restart_seconds);
  for (const model::BgpPeer& one : from.peers) {
    BgpPeer& peer = bgp.peers.emplace_back();
    peer.address = one.address.value;
    peer.as_number = static_cast<std::uint32_t>(one.as_number);
    take(one.port, peer.port);
    take(one.multihop, peer.multihop);
    if (one.password) peer.password = one.password->value;
    if (one.source_address) peer.source = one.source_address->value;
  }
  return bgp;
}

VirtualAddress address_of(const model::ProxyVip& vip) {
  VirtualAddress address;
  address.address = vip.address.value;
  address.prefix_length = vip.prefix_length;
  if (vip.mode && vip.mode->value == "BGP" && vip.bgp) address.bgp = bgp_of(*vip.bgp);
  if (vip.interface) address.interface = vip.interface->value;
  if (vip.min_healthy_nodes) address.min_healthy_nodes = static_cast<std::uint32_t>(vip.min_healthy_nodes->value);
  for (const auto& [key, value] : vip.node_selector) address.node_selector.emplace(key.value, value.value);
  return address;
}

/// The address, or those of the pool that gateways have.
std::vector<VirtualAddress> addresses_of(const model::ProxyVip& vip, const std::string& name) {
  constexpr std::uint8_t kWhole = 128;
  VirtualAddress one = address_of(vip);
  one.name = name;
  if (vip.pool.empty()) return {one};
  std::vector<VirtualAddress> all;
  // Several gateways may have asked for one.
  std::set<IpAddress> known;
  one.prefix_length = kWhole;
  for (const model::PoolAllocation& allocation : vip.allocations) {
    const bool inside = std::ranges::any_of(
        vip.pool, [&](const Located<Cidr>& block) { return block.value.contains(allocation.address); });
    if (!inside || !known.insert(allocation.address).second) continue;
    one.address = allocation.address;
    one.name = pool_address_name(name, allocation.address);
    all.push_back(one);
  }
  std::ranges::sort(all, {}, &VirtualAddress::address);
  return all;
}

}  // namespace

bool VipIndex::put(const std::string& name_space, const std::string& name, const std::string& document,
                   const std::string& status) {
  model::ResourceSet set;
  if (!read("ProxyVIP", document, set) || set.vips.size() != 1) return false;
  const Name full{name_space, name};
  std::vector<VirtualAddress> next = addresses_of(set.vips.front(), name);
  std::vector<PasswordPlace> places;
  const auto& bgp = set.vips.front().bgp;
  for (std::size_t i = 0; bgp && i < bgp->peers.size(); ++i) {
    const model::BgpPeer& peer = bgp->peers[i];
    if (!peer.password_secret) continue;
    places.push_back({i,
                      {name_space, peer.password_secret->value},
                      peer.password_key ? peer.password_key->value : std::string("password")});
  }
  passwords_.erase(full);
  if (!places.empty()) passwords_.emplace(full, std::move(places));
  const auto [position, fresh] = addresses_.try_emplace(full);
  std::vector<VirtualAddress>& before = position->second;
  for (VirtualAddress& address : next) {
    address.name_space = name_space;
    address.epoch = epoch_in(status);
    fill_passwords(full, address);
    // Agents count on from what they know: that a status is written is no change.
    for (VirtualAddress& known : before) {
      if (known.name != address.name) continue;
      address.epoch = std::max(address.epoch, known.epoch);
      known.epoch = address.epoch;
    }
  }
  const bool changed = fresh || before != next;
  before = std::move(next);
  return changed;
}

/// \returns whether a password, or why there is none, is another.
bool VipIndex::fill_passwords(const Name& name, VirtualAddress& address) const {
  const auto places = passwords_.find(name);
  if (places == passwords_.end()) return false;
  bool changed = false;
  for (const PasswordPlace& password : places->second) {
    if (!address.bgp) break;
    BgpPeer& peer = address.bgp->peers[password.peer];
    const BgpPeer before = peer;
    const std::string full = password.secret.first + "/" + password.secret.second;
    const auto secret = secrets_.find(password.secret);
    peer.password.clear();
    peer.fault.clear();
    if (secret == secrets_.end()) {
      peer.fault = "there is no Secret " + full;
    } else if (const auto value = secret->second.find(password.key); value != secret->second.end()) {
      peer.password = value->second;
    } else {
      peer.fault = "the Secret " + full + " has no password of 1 to 80 bytes in its key `" + password.key + "`";
    }
    changed = changed || before != peer;
  }
  return changed;
}

bool VipIndex::put_secret(const std::string& name_space, const std::string& name, const std::string& document) {
  const Name full{name_space, name};
  secrets_.erase(full);
  model::ResourceSet set;
  if (!document.empty() && read("Secret", document, set) && set.secrets.size() == 1) {
    std::map<std::string, std::string>& values = secrets_[full];
    for (const model::SecretEntry& entry : set.secrets.front().entries) {
      if (entry.value == nullptr || entry.value->empty() || entry.value->size() > kMaxPassword) continue;
      std::string value = *entry.value;
      // As editors and shells leave it.
      if (value.ends_with('\n')) value.pop_back();
      if (!value.empty()) values.emplace(entry.key, std::move(value));
    }
  }
  bool changed = false;
  for (const auto& [vip, places] : passwords_) {
    const bool names =
        std::ranges::any_of(places, [&](const PasswordPlace& password) { return password.secret == full; });
    if (!names) continue;
    for (VirtualAddress& address : addresses_.at(vip)) changed = fill_passwords(vip, address) || changed;
  }
  return changed;
}

bool VipIndex::remove(const std::string& name_space, const std::string& name) {
  passwords_.erase({name_space, name});
  return addresses_.erase({name_space, name}) != 0;
}

std::vector<VirtualAddress> VipIndex::addresses() const {
  std::vector<VirtualAddress> all;
  for (const auto& [name, addresses] : addresses_) {
    for (const VirtualAddress& address : addresses) {
      if (all.size() == VirtualAddresses::kMost) return all;
      all.push_back(address);
    }
  }
  return all;
}

}  // namespace edge::controller
