// Reads the kernel's links and addresses, and adds addresses that expire without a refresh: rtnetlink(7).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/netlink/link.h"
#include "net/netlink/socket.h"
#include "net/socket.h"

namespace edge::agent::vip {

using net::netlink::Link;

struct LocalAddress {
  int link = 0;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< for the address in IPv4-mapped form
  bool lasting = true;               ///< not one that expires within a few seconds without a refresh
};

/// For one thread.
class Netlink {
 public:
  /// Seconds that the kernel keeps an address without a refresh; it is removed 2.0 to 2.3 s after the last one.
  static constexpr std::uint32_t kLifetime = 2;

  static Result<Netlink> open();

  /// Reads the current links and addresses.
  Status refresh();
  const std::map<int, Link>& links() const { return links_; }
  const Link* link(const std::string& name) const;
  /// Returns an address of this node; null: it does not have it.
  const LocalAddress* address(const IpAddress& address) const;
  const std::vector<LocalAddress>& addresses() const { return addresses_; }
  /// Returns the link on which the address is directly reachable. kNotFound: none.
  Result<int> on_link(const IpAddress& address);

  /// Adds the address, or restarts its lifetime. kPermissionDenied without CAP_NET_ADMIN.
  Status keep(int link, const IpAddress& address, std::uint8_t prefix_length);
  /// Removes the address. kNotFound: it was not there.
  Status remove(int link, const IpAddress& address, std::uint8_t prefix_length);

  /// Readable when a link or an address has changed; `drain` consumes the events.
  int events() const { return events_.get(); }
  void drain();

 private:
  Netlink(net::netlink::Socket kernel, net::Fd events) : kernel_(std::move(kernel)), events_(std::move(events)) {}
  void take_address(const char* message, std::size_t size);

  net::netlink::Socket kernel_;
  net::Fd events_;
  std::map<int, Link> links_;
  std::vector<LocalAddress> addresses_;
};

}  // namespace edge::agent::vip
