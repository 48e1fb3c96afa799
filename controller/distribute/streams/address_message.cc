#include "controller/distribute/streams/address_message.h"

#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

/// `chosen`: the address is for this agent. No other is told passwords.
void write_bgp(const schemas::Bgp& from, bool chosen, agent::v1::Bgp& bgp) {
  bgp.set_local_as(from.local_as);
  bgp.set_router_id(from.router_id);
  for (const std::string& community : from.communities) bgp.add_communities(community);
  if (from.med) bgp.set_med(*from.med);
  if (from.local_preference) bgp.set_local_preference(*from.local_preference);
  bgp.set_hold_seconds(from.hold_seconds);
  bgp.set_keepalive_seconds(from.keepalive_seconds);
  bgp.set_connect_retry_seconds(from.connect_retry_seconds);
  bgp.set_bfd(from.bfd);
  bgp.set_bfd_interval_ms(from.bfd_interval_ms);
  bgp.set_bfd_multiplier(from.bfd_multiplier);
  bgp.set_graceful_restart(from.graceful_restart);
  bgp.set_graceful_restart_seconds(from.graceful_restart_seconds);
  for (const schemas::BgpPeer& one : from.peers) {
    auto& peer = *bgp.add_peers();
    peer.set_address(one.address.bytes.data(), one.address.bytes.size());
    peer.set_as_number(one.as_number);
    peer.set_port(one.port);
    if (chosen) peer.set_password(one.password);
    peer.set_fault(one.fault);
    peer.set_multihop(one.multihop);
    if (one.source) peer.set_source_address(one.source->bytes.data(), one.source->bytes.size());
  }
}

void write_address(const VirtualAddress& from, const Labels& labels, agent::v1::VirtualAddress& address) {
  address.set_namespace_(from.name_space);
  address.set_name(from.name);
  address.set_address(from.address.bytes.data(), from.address.bytes.size());
  address.set_prefix_length(from.prefix_length);
  address.set_mode(from.site  ? agent::v1::VirtualAddress::SITE
                   : from.bgp ? agent::v1::VirtualAddress::BGP
                              : agent::v1::VirtualAddress::LAYER2);
  address.set_interface(from.interface);
  address.set_min_healthy_nodes(from.min_healthy_nodes);
  for (const auto& [key, value] : from.node_selector) (*address.mutable_node_selector())[key] = value;
  address.set_epoch(from.epoch);
  if (from.bgp) write_bgp(*from.bgp, selects(from.node_selector, labels), *address.mutable_bgp());
}

}  // namespace

void write_addresses(const CurrentAddresses& current, const Labels& own, const Labels& of_node,
                     agent::v1::AddressesDown& into) {
  Labels labels = own;
  labels.insert(of_node.begin(), of_node.end());
  for (const auto& [key, value] : of_node) (*into.mutable_node_labels())[key] = value;
  into.set_version(current.version);
  into.set_key(current.set->key);
  for (const VirtualAddress& from : current.set->addresses) write_address(from, labels, *into.add_addresses());
  for (const auto& [name, address] : current.members) {
    auto& member = *into.add_members();
    member.set_name(name);
    member.set_address(address);
  }
}

}  // namespace edge::controller
