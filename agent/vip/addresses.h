// The virtual addresses from the controller, and their states on this agent.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/bgp/settings.h"
#include "agent/bgp/speaker.h"
#include "agent/vip/assignment.h"
#include "base/ip.h"
#include "base/labels.h"
#include "net/socket.h"

namespace edge::agent::vip {

/// How nodes serve an address.
enum class Mode : std::uint8_t {
  kLayer2,  ///< one node has it and answers ARP and NDP
  kBgp,     ///< every node that serves it announces it to routers
  kSite,    ///< no address: one node holds the tunnels of a Site
};

struct VirtualAddress {
  std::uint64_t id = 0;    ///< stable id of the ProxyVIP, or the Site
  std::string name_space;  ///< with its cluster, if it has one
  std::string name;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< for the address in IPv4-mapped form
  Mode mode = Mode::kLayer2;
  std::string interface;  ///< empty: the interface of the route
  Labels node_selector;   ///< of agents; empty: all
  std::uint32_t min_healthy_nodes = 0;
  std::uint64_t epoch = 0;  ///< the last one that the controller knows
  bgp::Settings bgp{};      ///< in mode BGP
};

/// Another agent, with its address for messages.
struct Member {
  std::string name;
  net::SocketAddress address;
};

struct Addresses {
  std::uint64_t version = 0;
  std::vector<VirtualAddress> addresses;
  std::vector<Member> members;
  std::string key;       ///< that words are authenticated by
  Labels node_labels{};  ///< of the agent's Node: its zone, and what selectors name
};

/// Why this node cannot serve an address. The name is used in statuses.
enum class Unfit : std::uint8_t {
  kNo,           ///< it can
  kNotSelected,  ///< nodeSelector
  kNoListener,   ///< no listener for the address is open
  kNoInterface,  ///< no such interface, or none that is directly connected to it
  kInterfaceDown,
  kNotPermitted,  ///< CAP_NET_ADMIN or CAP_NET_RAW is missing
  kConflict,      ///< another machine has it
  kDeaf,          ///< this node cannot receive other agents' messages
  kNoSpeaker,     ///< BIRD is not running, so nothing is announced by BGP
  kNoSession,     ///< no BGP peer has a session with this node
  kWithdrawn,     ///< not announced: the node is drained, or too few nodes serve it
};
std::string_view to_string(Unfit unfit);

/// The state of one address on an agent.
struct AddressState {
  std::string name_space;
  std::string name;
  std::string address;      ///< `192.0.2.10`
  bool held = false;        ///< in mode BGP: announced to at least one peer
  std::uint64_t epoch = 0;  ///< of its hold, or the last known one
  Unfit unfit = Unfit::kNo;
  std::string reason;                         ///< a sentence; empty: it can
  std::string interface;                      ///< the interface it is on
  std::string holder;                         ///< the node that has it, as far as this one knows; empty: none
  std::string successor;                      ///< the node that would take it over
  std::string cause;                          ///< of the last move to this node; empty: there was none
  std::string from;                           ///< the node that had it before
  std::uint64_t conflicts = 0;                ///< conflicting claims received
  std::vector<bgp::SessionState> sessions{};  ///< in mode BGP
  bool graceful_shutdown = false;             ///< announced with GRACEFUL_SHUTDOWN
  friend bool operator==(const AddressState&, const AddressState&) = default;
};

/// An address of the program, and whether its listeners are open.
struct ServedAddress {
  bool any = false;  ///< listeners on all addresses
  IpAddress address;
  Serves serves = Serves::kNone;
};

}  // namespace edge::agent::vip
