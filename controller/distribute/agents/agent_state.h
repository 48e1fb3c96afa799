// The controller's knowledge of one agent: what it reported of itself, what it runs, the health of its backends. The
// inspect calls return it too, so that status, `edgectl agents` and metrics agree.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "controller/distribute/wanted_name.h"
#include "program/values/endpoints.h"

namespace edge::controller {

using WallTime = std::chrono::system_clock::time_point;

/// The group of agents without a group label.
inline constexpr std::string_view kDefaultGroup = "default";

struct EndpointHealth {
  std::string address;  ///< `10.0.0.1:8080`, `[fd00::1]:8080`
  bool healthy = false;
  WallTime last_check{};           ///< zero: never checked
  std::string last_error;          ///< of the last check, empty when it succeeded
  program::EndpointZones zones{};  ///< whose agents prefer it
  bool reserve = false;            ///< healthy, and not needed by the agent; over all agents: by none
  std::string cluster{};           ///< of a gateway of another cluster; empty: an own endpoint
  std::uint32_t cluster_priority = 0;
  std::string cluster_region{};  ///< empty: unknown
  friend bool operator==(const EndpointHealth&, const EndpointHealth&) = default;
};

/// A name to be resolved to endpoints.
struct NameHealth {
  std::string name;  ///< `api.example.org:443`
  std::uint32_t addresses = 0;
  std::string error{};  ///< of the last lookup, empty when it succeeded
  friend bool operator==(const NameHealth&, const NameHealth&) = default;
};

struct BackendHealth {
  std::string name_space;
  std::string name;
  std::string circuit;  ///< `Closed`, `Open`, `HalfOpen`
  std::uint32_t connections = 0;
  std::vector<EndpointHealth> endpoints;
  std::vector<NameHealth> names{};
  friend bool operator==(const BackendHealth&, const BackendHealth&) = default;
};

/// A session of BGP.
struct BgpSessionState {
  std::string peer;
  std::uint32_t peer_as = 0;
  std::string state;
  std::int64_t since_ms = 0;  ///< since 1970; 0: unknown
  std::string last_error{};
  std::string bfd{};  ///< empty: without BFD
  std::uint64_t announced = 0;
  friend bool operator==(const BgpSessionState&, const BgpSessionState&) = default;
};

struct VipState {
  std::string name_space;
  std::string name;
  std::string address;
  bool held = false;  ///< this node has the address
  std::uint64_t epoch = 0;
  std::string unfit{};   ///< one word: why this node cannot have it; empty: it can
  std::string reason{};  ///< the same as a sentence, or another problem
  std::string interface{};
  std::string cause{};  ///< of the last change of node
  std::string from{};   ///< the agent that had it before
  std::uint64_t conflicts = 0;
  std::vector<BgpSessionState> sessions{};  ///< in mode BGP; at most kMostSessions
  bool graceful_shutdown = false;           ///< announced with GRACEFUL_SHUTDOWN

  static constexpr int kMostSessions = 32;
  friend bool operator==(const VipState&, const VipState&) = default;
};

/// `VipState::unfit` of what no agent has reported: an agent behind a relay is given no address.
inline constexpr std::string_view kBehindRelay = "BehindRelay";

/// One agent's report of one address.
struct AgentVip {
  std::string agent;
  std::string node;
  VipState state;
  friend bool operator==(const AgentVip&, const AgentVip&) = default;
};

enum class BindFault : std::uint8_t {
  kPort,         ///< in use by another process, or not permitted for the agent's user
  kAddress,      ///< the agent's node does not have it
  kCertificate,  ///< bound, but every handshake fails
  kOther,
};

/// A listener that clients of one agent cannot reach at one of its addresses.
struct UnboundListener {
  std::uint64_t gateway_id = 0;  ///< stable_id of its kind, namespace and name
  std::string name_space;        ///< of the gateway
  std::string gateway;
  std::string listener;
  std::string address;  ///< `*:80`, `10.0.0.1:80`, `[fd00::1]:80`
  BindFault fault = BindFault::kOther;
  std::string reason;  ///< one line
  friend bool operator==(const UnboundListener&, const UnboundListener&) = default;
};

/// A program that an agent rejected.
struct Refusal {
  std::string program;  ///< hash, hex; empty: none
  std::string reason;
  WallTime at{};
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct AgentState {
  std::string name;
  std::string node;
  std::string version;
  std::string cpu;  ///< `x86-64-v3`
  std::string group = std::string(kDefaultGroup);
  Labels labels;
  std::string peer_address{};  ///< its address for other agents
  bool connected = false;
  WallTime since{};       ///< when it connected or disconnected
  WallTime last_seen{};   ///< the time of its last message
  std::string program;    ///< hash of the program it runs, hex; empty: none yet
  std::string published;  ///< hash of the program published to its group; empty: none yet
  /// Whether its endpoints and secrets are those last published to its group.
  bool values_current = false;
  std::uint64_t values = 0;  ///< version of these
  Refusal refused;           ///< of the program that was sent last
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;  ///< since it started
  std::vector<BackendHealth> backends;
  std::vector<VipState> vips;
  std::vector<UnboundListener> unbound;
  WallTime certificate_until{};
};

/// A program in the history, and the change that caused it.
struct HistoryEntry {
  std::string program;  ///< hash, hex
  WallTime at{};
  std::string cause;                   ///< one line
  std::vector<std::string> resources;  ///< `ProxyRoute shop/api`
  std::string user;                    ///< field manager of the change, where it is known
  bool serving = false;                ///< published now
  bool pinned = false;                 ///< by a rollback
};

}  // namespace edge::controller
