// The tunnels of this node: links, addresses, routes and rules in the kernel, kept as an assignment wants them.
//
// Everything is compared with what is there once a second, so that what another program took away comes back. What
// an earlier process left is taken over or removed. Nothing without our protocol number or alias is changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/wan/tunnel/wanted.h"
#include "base/log.h"
#include "base/result.h"

namespace edge::agent::wan {

/// A handshake is repeated after two minutes; a session without a new one ends after three.
inline constexpr auto kSessionLife = std::chrono::seconds(185);

struct TunnelState {
  std::string link;
  std::string peer;
  std::string peer_link;
  std::string interface;                            ///< that carries its packets now; empty: none is there
  std::uint32_t slot = 0;                           ///< of those to the peer's site (marks.h); 0: it has none
  bool up = false;                                  ///< it has a session
  std::optional<std::chrono::seconds> handshake{};  ///< of the last session, since 1970
  std::optional<net::SocketAddress> endpoint{};     ///< of the peer, as its packets come
  std::uint32_t mtu = 0;
  std::uint64_t received = 0;  ///< octets since the interface was made
  std::uint64_t sent = 0;
  std::string fault;  ///< why it cannot be set up; empty: nothing is wrong
  friend bool operator==(const TunnelState&, const TunnelState&) = default;
};

/// An interface of a tunnel. While keys are replaced it has several.
struct DeviceState {
  std::string name;
  int index = 0;  ///< of the kernel: another one after it was made anew
  std::size_t tunnel = 0;
  friend bool operator==(const DeviceState&, const DeviceState&) = default;
};

struct TunnelsState {
  std::uint64_t assignment = 0;      ///< what `set` returned; 0: none was taken yet
  std::vector<TunnelState> tunnels;  ///< as in WantedTunnels
  std::vector<DeviceState> devices;
  std::vector<std::string> faults;  ///< of the node
  friend bool operator==(const TunnelsState&, const TunnelsState&) = default;
};

struct TunnelsOptions {
  Logger log;
  std::function<void()> changed;  ///< called on the thread of the tunnels when `state` has changed; may be null
};

/// Threads: any.
class Tunnels {
 public:
  /// Starts a thread, in the network namespace of the caller. kPermissionDenied without CAP_NET_ADMIN.
  static Result<std::unique_ptr<Tunnels>> start(TunnelsOptions options);
  /// Removes all that it made.
  ~Tunnels();
  Tunnels(const Tunnels&) = delete;
  Tunnels& operator=(const Tunnels&) = delete;

  /// An empty site: nothing is to be there. \returns the number of the assignment: `state` has it once it was taken.
  std::uint64_t set(WantedTunnels wanted);
  TunnelsState state() const;
  /// Nothing is changed any more, and the end removes nothing but processes of this one: another process takes over.
  void hand_over();

 private:
  struct Impl;
  explicit Tunnels(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent::wan
