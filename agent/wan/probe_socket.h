// Sockets of probes: bound to a link, with the time at which the kernel received each datagram.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "agent/wan/change_detector.h"
#include "base/ip.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::wan {

/// The clock of Time: since boot, suspended time included.
Time boot_now();
/// Nanoseconds since 1970, which never go back within a process: that of its start, and what has passed since.
std::int64_t wall_now();

/// What leads to the other end.
struct ProbeRoute {
  std::string interface{};         ///< that packets leave by; empty: as the routes say
  std::optional<IpAddress> own{};  ///< that they leave from; nullopt: the kernel chooses
  net::SocketAddress to{};
  friend bool operator==(const ProbeRoute&, const ProbeRoute&) = default;
};

/// Datagrams from and to `route.to` alone, with a TTL of 255 (RFC 8762 section 4.2).
Result<net::Fd> open_query_socket(const ProbeRoute& route);
/// Datagrams of `port`, of every address of the node.
Result<net::Fd> open_reflector_socket(std::uint16_t port);
/// Echo requests and replies of ICMP, or ICMPv6. kPermissionDenied: neither net.ipv4.ping_group_range nor CAP_NET_RAW
/// allows it.
struct EchoSocket {
  net::Fd fd;
  bool raw = false;  ///< replies begin with the IP header (IPv4)
};
Result<EchoSocket> open_echo_socket(const ProbeRoute& route);
/// Begins to connect.
Result<net::Fd> open_tcp_probe(const ProbeRoute& route);

struct ReceivedProbe {
  std::size_t size = 0;
  net::SocketAddress from{};
  std::optional<IpAddress> to{};  ///< of this node; of reflector sockets
  int interface = 0;              ///< index, likewise
  std::uint8_t ttl = 0;           ///< likewise
  Time arrived{};                 ///< when the kernel received it
  std::int64_t wall = 0;          ///< the same on the clock of wall_now
};
/// The next datagram; nullopt: none waits.
std::optional<ReceivedProbe> receive_probe(int fd, std::span<char> into);
/// An address of an interface, of IPv4 where it has one; nullopt: it has none.
std::optional<IpAddress> interface_address(const std::string& interface);
/// Answers where `query` came from, by the way that it came.
bool send_back(int fd, const ReceivedProbe& query, std::string_view packet);

}  // namespace edge::agent::wan
