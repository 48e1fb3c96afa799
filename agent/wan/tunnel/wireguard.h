// One WireGuard link and its one peer: set and read by the kernel's generic netlink (wireguard(7)), or by the socket of
// a wireguard-go (https://www.wireguard.com/xplatform/). Both know the same few values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/wan/tunnel/wanted.h"
#include "base/ip.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::wan {

struct WireGuardSettings {
  WireGuardKey private_key{};
  WireGuardKey peer_key{};
  std::uint16_t port = 0;
  std::uint32_t mark = 0;       ///< of the packets that carry the tunnel; 0: none
  std::uint16_t keepalive = 0;  ///< seconds; 0: none
  std::vector<Cidr> allowed{};  ///< sources that the peer may send from
  friend bool operator==(const WireGuardSettings&, const WireGuardSettings&) = default;
};

struct WireGuardState {
  std::optional<net::SocketAddress> endpoint{};     ///< where packets for the peer go to now
  std::optional<std::chrono::seconds> handshake{};  ///< when the last one ended, since 1970
  std::uint64_t received = 0;                       ///< octets
  std::uint64_t sent = 0;
};

/// The set operation of a wireguard-go, to its blank line. Without an `endpoint` that of now is kept.
std::string write_settings(const WireGuardSettings& settings, const std::optional<net::SocketAddress>& endpoint);
/// Only the peer's address.
std::string write_endpoint(const WireGuardKey& peer, const net::SocketAddress& endpoint);
/// Of the answer to `get=1`. kUnavailable: it reports an error.
Result<WireGuardState> read_state(std::string_view answer);
/// The public key of a private one; nullopt: the library cannot make it.
std::optional<WireGuardKey> public_key(const WireGuardKey& private_key);

/// A link by whatever runs it. For one thread.
class WireGuard {
 public:
  /// `socket`: the path of a wireguard-go's socket; empty: the kernel's own.
  WireGuard(std::string name, std::string socket) : name_(std::move(name)), socket_(std::move(socket)) {}

  /// Whether it can be set and read. A wireguard-go makes its socket a moment after its start.
  bool ready() const;
  Status set(const WireGuardSettings& settings, const std::optional<net::SocketAddress>& endpoint);
  Status set_endpoint(const WireGuardKey& peer, const net::SocketAddress& endpoint);
  Result<WireGuardState> state();

 private:
  Result<std::string> ask(std::string_view request) const;

  std::string name_;
  std::string socket_;
};

/// The kernel's, by generic netlink. kNotFound: it has no WireGuard, or no such link.
Status set_kernel_wireguard(const std::string& link, const WireGuardSettings& settings,
                            const std::optional<net::SocketAddress>& endpoint);
Status set_kernel_endpoint(const std::string& link, const WireGuardKey& peer, const net::SocketAddress& endpoint);
Result<WireGuardState> kernel_wireguard(const std::string& link);

}  // namespace edge::agent::wan
