// The kernel's links, addresses, routes and rules that tunnels need: rtnetlink(7). What this agent makes carries its
// own protocol number (routes, rules) or its own alias (links), and nothing else is ever removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/netlink/link.h"
#include "net/netlink/socket.h"

namespace edge::agent::wan {

/// Of routes and rules of ours (rtm_protocol, FRA_PROTOCOL); /etc/iproute2/rt_protos has no name for it.
inline constexpr std::uint8_t kProtocol = 157;
/// Links of ours have an alias that begins with this.
inline constexpr std::string_view kAliasPrefix = "edge-agent tunnel ";
/// What the names of links of ours begin with.
inline constexpr const char* kDevicePrefix = "ewg";

using net::netlink::Link;
using net::netlink::LinkList;

enum class RouteKind : std::uint8_t {
  kUnicast,
  kUnreachable,
  kThrow,  ///< the rules that follow decide
};

struct Route {
  std::uint32_t table = 0;
  Cidr to{};
  RouteKind kind = RouteKind::kUnicast;
  int link = 0;                        ///< of kUnicast
  std::optional<IpAddress> gateway{};  ///< of kUnicast
  std::optional<IpAddress> source{};   ///< the preferred one
  std::uint32_t metric = 0;
  std::uint32_t mtu = 0;  ///< 0: the link's
  auto tied() const { return std::tie(table, to.address, to.prefix_length, metric, kind, link, gateway, source, mtu); }
  friend bool operator==(const Route& one, const Route& other) { return one.tied() == other.tied(); }
  friend bool operator<(const Route& one, const Route& other) { return one.tied() < other.tied(); }
};

struct Rule {
  bool v6 = false;
  std::uint32_t preference = 0;
  std::uint32_t mark = 0;
  std::uint32_t mask = 0;   ///< 0: any mark
  std::uint32_t table = 0;  ///< 0: packets are dropped
  friend bool operator==(const Rule&, const Rule&) = default;
  friend auto operator<=>(const Rule&, const Rule&) = default;
};

/// For one thread, in whose network namespace it works.
class Rtnetlink {
 public:
  static Result<Rtnetlink> open();
  /// \param kernel  what answers like the kernel
  explicit Rtnetlink(net::netlink::Socket kernel) : kernel_(std::move(kernel)) {}

  /// May be torn.
  Result<LinkList> links() { return net::netlink::list_links(kernel_); }
  /// Makes a WireGuard link of the kernel. kUnimplemented: it has none.
  Status add_wireguard(const std::string& name);
  /// Sets its alias alone.
  Status set_alias(const std::string& name, const std::string& alias);
  /// Sets alias and MTU, and the link up.
  Status set_link(int index, const std::string& alias, std::uint32_t mtu);
  Status remove_link(int index);
  Status remove_link(const std::string& name);
  /// Adds the address alone, without a route to a network. kAlreadyExists is no error.
  Status add_address(int link, const IpAddress& address);

  /// The routes and rules of ours, sorted.
  Result<std::vector<Route>> routes();
  Result<std::vector<Rule>> rules();
  Status add_route(const Route& route);
  Status remove_route(const Route& route);
  Status add_rule(const Rule& rule);
  Status remove_rule(const Rule& rule);
  /// The gateway of the main table's default route by that link; nullopt: it has none.
  std::optional<IpAddress> default_gateway(int link, bool v6);
  /// The link of that table's default route, IPv4 before IPv6; nullopt: there is none.
  std::optional<int> default_link();

 private:
  /// The default routes of the main table.
  std::vector<Route> default_routes(bool v6);
  Status change_route(std::uint16_t type, std::uint16_t flags, const Route& route);
  Status change_rule(std::uint16_t type, std::uint16_t flags, const Rule& rule);

  net::netlink::Socket kernel_;
};

}  // namespace edge::agent::wan
