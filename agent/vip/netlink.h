// What the kernel knows of links and addresses, and addresses that it keeps for so long as they are refreshed:
// rtnetlink(7).
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::vip {

struct Link {
  int index = 0;
  std::string name;
  bool running = false;   ///< up, and its cable too
  bool ethernet = false;  ///< ARP and NDP are spoken on it
  std::array<std::uint8_t, 6> mac{};
};

struct LocalAddress {
  int link = 0;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< in the mapped form
  bool lasting = true;               ///< not one that ends when it is not refreshed within a few seconds
};

/// Of one thread.
class Netlink {
 public:
  /// Seconds that the kernel keeps an address without a refresh; it ends 2.0 to 2.3 s after the last one.
  static constexpr std::uint32_t kLifetime = 2;

  static Result<Netlink> open();

  /// Links and addresses as they are now.
  Status refresh();
  const std::map<int, Link>& links() const { return links_; }
  const Link* link(const std::string& name) const;
  /// Of this node; null: it has it not.
  const LocalAddress* address(const IpAddress& address) const;
  const std::vector<LocalAddress>& addresses() const { return addresses_; }
  /// The link that the address is reached by without a router. kNotFound: none.
  Result<int> on_link(const IpAddress& address);

  /// Adds the address, or starts its lifetime again. kPermissionDenied without CAP_NET_ADMIN.
  Status keep(int link, const IpAddress& address, std::uint8_t prefix_length);
  /// kNotFound: it was not there.
  Status remove(int link, const IpAddress& address, std::uint8_t prefix_length);

  /// Readable when a link or an address is another; `drain` takes what is there.
  int events() const { return events_.get(); }
  void drain();

 private:
  Netlink(net::Fd requests, net::Fd events) : requests_(std::move(requests)), events_(std::move(events)) {}
  Status dump(std::uint16_t type);
  Status ask(const std::vector<char>& request);
  void take(const nlmsghdr& header, const char* body, std::size_t size);
  void take_link(const char* message, std::size_t size);
  void take_address(const char* message, std::size_t size);
  Status change(std::uint16_t type, std::uint16_t flags, int link, const IpAddress& address, std::uint8_t prefix_length,
                std::uint32_t lifetime);

  net::Fd requests_;
  net::Fd events_;
  std::uint32_t sequence_ = 0;
  std::map<int, Link> links_;
  std::vector<LocalAddress> addresses_;
  std::optional<int> route_link_;  ///< of the last question
  bool route_direct_ = false;
};

}  // namespace edge::agent::vip
