// The virtual addresses that an agent is given by its controller, and what it says of each.
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

/// How nodes hold an address.
enum class Mode : std::uint8_t {
  kLayer2,  ///< one node has it and answers ARP and NDP for it
  kBgp,     ///< every node that serves it announces it to routers
};

struct VirtualAddress {
  std::uint64_t id = 0;    ///< stable id of the ProxyVIP
  std::string name_space;  ///< with its cluster, where it has one
  std::string name;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< in the mapped form
  Mode mode = Mode::kLayer2;
  std::string interface;  ///< empty: that of the route
  Labels node_selector;   ///< of agents; empty: all of them
  std::uint32_t min_healthy_nodes = 0;
  std::uint64_t epoch = 0;  ///< the last that the controller knows of
  bgp::Settings bgp{};      ///< of mode BGP
};

/// Another agent, where it hears words.
struct Member {
  std::string name;
  net::SocketAddress address;
};

struct Addresses {
  std::uint64_t version = 0;
  std::vector<VirtualAddress> addresses;
  std::vector<Member> members;
  std::string key;       ///< that words are authenticated by
  Labels node_labels{};  ///< of the agent's Node, as far as selectors name them
};

/// Why this node cannot serve an address. The word goes into statuses.
enum class Unfit : std::uint8_t {
  kNo,           ///< it can
  kNotSelected,  ///< nodeSelector
  kNoListener,   ///< no listener of the address is open
  kNoInterface,  ///< no such interface, or none that reaches it without a router
  kInterfaceDown,
  kNotPermitted,  ///< CAP_NET_ADMIN or CAP_NET_RAW is missing
  kConflict,      ///< another machine has it
  kDeaf,          ///< this node cannot hear other agents
  kNoSpeaker,     ///< BIRD does not run, so nothing is announced by BGP
  kNoSession,     ///< no peer of BGP has a session with this node
  kWithdrawn,     ///< not announced: the node is drained, or too few nodes serve it
};
std::string_view to_string(Unfit unfit);

/// What an agent says of one address.
struct AddressState {
  std::string name_space;
  std::string name;
  std::string address;      ///< `192.0.2.10`
  bool held = false;        ///< of mode BGP: announced to a peer at least
  std::uint64_t epoch = 0;  ///< of its hold, or the last one that is known
  Unfit unfit = Unfit::kNo;
  std::string reason;                         ///< a line; empty: it can
  std::string interface;                      ///< that it is held on
  std::string holder;                         ///< the node that holds it, as far as this one knows; empty: none
  std::string successor;                      ///< the node that would take it
  std::string cause;                          ///< of the last move here; empty: there was none
  std::string from;                           ///< the node that had it before
  std::uint64_t conflicts = 0;                ///< that were heard
  std::vector<bgp::SessionState> sessions{};  ///< of mode BGP
  bool graceful_shutdown = false;             ///< announced as about to go away
  friend bool operator==(const AddressState&, const AddressState&) = default;
};

/// An address of the program, and whether its listeners are open.
struct ServedAddress {
  bool any = false;  ///< listeners of every address
  IpAddress address;
  Serves serves = Serves::kNone;
};

}  // namespace edge::agent::vip
