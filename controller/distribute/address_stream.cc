#include <utility>

#include <grpcpp/grpcpp.h>

#include "base/labels.h"
#include "controller/distribute/conversation.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::AddressesDown;
using agent::v1::AddressesUp;

constexpr std::size_t kMaxAddress = 64;

/// Where the others reach it: an agent that hears at all of its addresses says only the port, and is reached at the
/// address that it has come from. Empty: it hears nowhere.
std::string reached_at(const std::string& said, const std::string& peer) {
  if (!said.starts_with(':') || said.size() > kMaxAddress) return printable(said, kMaxAddress);
  std::string host = peer.substr(0, peer.rfind(':'));
  for (const auto& [code, text] : {std::pair("%5B", "["), std::pair("%5D", "]")}) {
    if (const std::size_t at = host.find(code); at != std::string::npos) host.replace(at, 3, text);
  }
  return host + said;
}

class AddressStream final : public Conversation<AddressesUp, AddressesDown> {
 public:
  using Conversation::Conversation;

 private:
  Status heard(const AddressesUp& up) override {
    if (up.has_hello() && greeted_) return Error{ErrorCode::kInvalidArgument, "two hellos"};
    if (!up.has_hello()) {
      return greeted_ ? Status() : Status(Error{ErrorCode::kInvalidArgument, "the first word is a hello"});
    }
    const auto greeting = read_greeting(up.hello());
    if (!greeting) return greeting.error();
    greeted_ = true;
    own_labels_ = greeting->state.labels;
    node_ = greeting->state.node;
    hub_.note_member(name(), reached_at(up.hello().peer_address(), peer_address(context_)));
    return {};
  }

  bool waits_for_answer() const override { return false; }

  void advance() override {
    if (!greeted_ || !may_write()) return;
    if (hub_.address_versions() == std::pair(sent_, sent_labels_)) return;
    const CurrentAddresses current = hub_.current_addresses();
    if (current.set == nullptr) return;
    Labels of_node = hub_.node_labels(node_);
    sent_labels_ = current.labels_version;
    if (current.version == sent_ && of_node == node_labels_) return;
    sent_ = current.version;
    node_labels_ = std::move(of_node);
    labels_ = own_labels_;
    labels_.insert(node_labels_.begin(), node_labels_.end());
    down_.Clear();
    for (const auto& [key, value] : node_labels_) (*down_.mutable_node_labels())[key] = value;
    down_.set_version(current.version);
    down_.set_key(current.set->key);
    for (const VirtualAddress& from : current.set->addresses) add(from);
    for (const auto& [name, address] : current.members) {
      auto& member = *down_.add_members();
      member.set_name(name);
      member.set_address(address);
    }
    write();
  }

  void add(const VirtualAddress& from) {
    auto& address = *down_.add_addresses();
    address.set_namespace_(from.name_space);
    address.set_name(from.name);
    address.set_address(from.address.bytes.data(), from.address.bytes.size());
    address.set_prefix_length(from.prefix_length);
    address.set_mode(from.bgp ? agent::v1::VirtualAddress::BGP : agent::v1::VirtualAddress::LAYER2);
    address.set_interface(from.interface);
    address.set_min_healthy_nodes(from.min_healthy_nodes);
    for (const auto& [key, value] : from.node_selector) (*address.mutable_node_selector())[key] = value;
    address.set_epoch(from.epoch);
    if (from.bgp) add(*from.bgp, selects(from.node_selector, labels_), *address.mutable_bgp());
  }

  /// `chosen`: the address is for this agent. No other is told passwords.
  static void add(const schemas::Bgp& from, bool chosen, agent::v1::Bgp& bgp) {
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

  void gone() override {}

  bool greeted_ = false;
  Labels own_labels_;   ///< of the agent
  std::string node_;    ///< that it runs on
  Labels node_labels_;  ///< as they were sent last
  Labels labels_;       ///< of both
  std::uint64_t sent_ = 0;
  std::uint64_t sent_labels_ = 0;
};

}  // namespace

AddressReactor* new_address_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<AddressStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
