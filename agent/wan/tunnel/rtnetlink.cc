#include "agent/wan/tunnel/rtnetlink.h"

#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <net/if.h>

#include "net/netlink/message.h"

namespace edge::agent::wan {
namespace {

namespace netlink = net::netlink;

using netlink::kMappedBits;
using netlink::value_of;

/// The length of a prefix in its own family.
std::uint8_t own_length(const Cidr& cidr) {
  return static_cast<std::uint8_t>(cidr.address.is_v4() ? cidr.prefix_length - kMappedBits : cidr.prefix_length);
}

Cidr any_network(bool v6) {
  Cidr cidr;
  cidr.prefix_length = v6 ? 0 : kMappedBits;
  if (!v6) cidr.address.bytes[10] = cidr.address.bytes[11] = 0xff;
  return cidr;
}

std::uint32_t metric_mtu(const char* bytes, std::size_t size) {
  std::uint32_t mtu = 0;
  netlink::each_attribute(bytes, size, [&](std::uint16_t type, const char* value, std::size_t length) {
    if (type == RTAX_MTU) mtu = value_of<std::uint32_t>(value, length);
  });
  return mtu;
}

std::optional<Route> read_route(const char* body, std::size_t size) {
  if (size < sizeof(rtmsg)) return std::nullopt;
  const auto head = value_of<rtmsg>(body, size);
  const bool v6 = head.rtm_family == AF_INET6;
  Route route{.table = head.rtm_table, .to = any_network(v6)};
  if (head.rtm_type == RTN_UNREACHABLE) route.kind = RouteKind::kUnreachable;
  if (head.rtm_type == RTN_THROW) route.kind = RouteKind::kThrow;
  netlink::each_attribute(
      body + sizeof head, size - sizeof head, [&](std::uint16_t type, const char* bytes, std::size_t length) {
        if (type == RTA_TABLE) route.table = value_of<std::uint32_t>(bytes, length);
        if (type == RTA_DST) {
          route.to.address = netlink::address_of(bytes, length);
          route.to.prefix_length = static_cast<std::uint8_t>(head.rtm_dst_len + (v6 ? 0 : kMappedBits));
        }
        if (type == RTA_OIF) route.link = value_of<int>(bytes, length);
        if (type == RTA_GATEWAY) route.gateway = netlink::address_of(bytes, length);
        if (type == RTA_PREFSRC) route.source = netlink::address_of(bytes, length);
        if (type == RTA_PRIORITY) route.metric = value_of<std::uint32_t>(bytes, length);
        if (type == RTA_METRICS) route.mtu = metric_mtu(bytes, length);
      });
  // IPv6 names the loopback link for what leads nowhere.
  if (route.kind != RouteKind::kUnicast) route.link = 0;
  return route;
}

}  // namespace

Result<Rtnetlink> Rtnetlink::open() {
  auto kernel = netlink::Socket::open({.patience = std::chrono::seconds(2)});
  if (!kernel) return kernel.error();
  // The kernel selects routes itself: a node may have a million of others.
  const int strict = 1;
  ::setsockopt(kernel->fd(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &strict, sizeof strict);
  return Rtnetlink(std::move(*kernel));
}

Status Rtnetlink::add_wireguard(const std::string& name) {
  netlink::Messages request;
  request.begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, kernel_.next());
  const ifinfomsg head{};
  request.add(&head, sizeof head);
  request.text(IFLA_IFNAME, name);
  request.nest(IFLA_LINKINFO, [&] { request.text(IFLA_INFO_KIND, "wireguard"); });
  return kernel_.ask(request.finish());
}

Status Rtnetlink::set_alias(const std::string& name, const std::string& alias) {
  netlink::Messages request;
  request.begin(RTM_NEWLINK, NLM_F_ACK, kernel_.next());
  const ifinfomsg head{};
  request.add(&head, sizeof head);
  request.text(IFLA_IFNAME, name);
  request.attribute(IFLA_IFALIAS, alias.data(), alias.size());
  return kernel_.ask(request.finish());
}

Status Rtnetlink::set_link(int index, const std::string& alias, std::uint32_t mtu) {
  netlink::Messages request;
  request.begin(RTM_NEWLINK, NLM_F_ACK, kernel_.next());
  ifinfomsg head{};
  head.ifi_index = index;
  head.ifi_flags = IFF_UP;
  head.ifi_change = IFF_UP;
  request.add(&head, sizeof head);
  request.number(IFLA_MTU, mtu);
  request.attribute(IFLA_IFALIAS, alias.data(), alias.size());
  return kernel_.ask(request.finish());
}

Status Rtnetlink::remove_link(int index) {
  netlink::Messages request;
  request.begin(RTM_DELLINK, NLM_F_ACK, kernel_.next());
  ifinfomsg head{};
  head.ifi_index = index;
  request.add(&head, sizeof head);
  return kernel_.ask(request.finish());
}

Status Rtnetlink::remove_link(const std::string& name) {
  netlink::Messages request;
  request.begin(RTM_DELLINK, NLM_F_ACK, kernel_.next());
  const ifinfomsg head{};
  request.add(&head, sizeof head);
  request.text(IFLA_IFNAME, name);
  return kernel_.ask(request.finish());
}

Status Rtnetlink::add_address(int link, const IpAddress& address) {
  Status status = netlink::change_address(
      kernel_, {.type = RTM_NEWADDR, .flags = NLM_F_CREATE | NLM_F_EXCL, .link = link, .address = address});
  if (!status && status.error().code == ErrorCode::kAlreadyExists) return {};
  return status;
}

Result<std::vector<Route>> Rtnetlink::routes() {
  std::vector<Route> routes;
  for (const unsigned char family : {AF_INET, AF_INET6}) {
    netlink::Messages request;
    request.begin(RTM_GETROUTE, NLM_F_DUMP, kernel_.next());
    rtmsg head{};
    head.rtm_family = family;
    head.rtm_protocol = kProtocol;
    request.add(&head, sizeof head);
    const Status status =
        kernel_.ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
          if (header.nlmsg_type != RTM_NEWROUTE || value_of<rtmsg>(body, size).rtm_protocol != kProtocol) return;
          if (auto route = read_route(body, size)) routes.push_back(*route);
        });
    if (!status && status.error().code != ErrorCode::kUnimplemented) return status.error();
  }
  std::sort(routes.begin(), routes.end());
  return routes;
}

std::vector<Route> Rtnetlink::default_routes(bool v6) {
  netlink::Messages request;
  request.begin(RTM_GETROUTE, NLM_F_DUMP, kernel_.next());
  rtmsg head{};
  head.rtm_family = v6 ? AF_INET6 : AF_INET;
  head.rtm_table = RT_TABLE_MAIN;
  request.add(&head, sizeof head);
  std::vector<Route> routes;
  const Status status = kernel_.ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
    if (header.nlmsg_type != RTM_NEWROUTE) return;
    const auto route = read_route(body, size);
    const bool fits = route && route->table == RT_TABLE_MAIN && route->to == any_network(v6);
    if (fits && route->link != 0) routes.push_back(*route);
  });
  if (!status) routes.clear();
  std::ranges::stable_sort(routes, {}, &Route::metric);
  return routes;
}

std::optional<IpAddress> Rtnetlink::default_gateway(int link, bool v6) {
  for (const Route& route : default_routes(v6)) {
    if (route.link == link && route.gateway) return route.gateway;
  }
  return std::nullopt;
}

std::optional<int> Rtnetlink::default_link() {
  for (const bool v6 : {false, true}) {
    const std::vector<Route> routes = default_routes(v6);
    if (!routes.empty()) return routes.front().link;
  }
  return std::nullopt;
}

Status Rtnetlink::change_route(std::uint16_t type, std::uint16_t flags, const Route& route) {
  netlink::Messages request;
  request.begin(type, static_cast<std::uint16_t>(flags | NLM_F_ACK), kernel_.next());
  rtmsg head{};
  const bool unicast = route.kind == RouteKind::kUnicast;
  head.rtm_family = route.to.address.is_v4() ? AF_INET : AF_INET6;
  head.rtm_dst_len = own_length(route.to);
  head.rtm_protocol = kProtocol;
  head.rtm_type = unicast ? RTN_UNICAST : route.kind == RouteKind::kUnreachable ? RTN_UNREACHABLE : RTN_THROW;
  head.rtm_scope = unicast && !route.gateway && route.to.address.is_v4() ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  // A gateway is looked for in the route's own table first, where what leads nowhere would be found.
  if (route.gateway) head.rtm_flags = RTNH_F_ONLINK;
  request.add(&head, sizeof head);
  request.number(RTA_TABLE, route.table);
  if (head.rtm_dst_len != 0) request.address(RTA_DST, route.to.address);
  if (unicast) request.number(RTA_OIF, static_cast<std::uint32_t>(route.link));
  if (route.gateway) request.address(RTA_GATEWAY, *route.gateway);
  if (route.source) request.address(RTA_PREFSRC, *route.source);
  if (route.metric != 0) request.number(RTA_PRIORITY, route.metric);
  if (route.mtu != 0) request.nest(RTA_METRICS, [&] { request.number(RTAX_MTU, route.mtu); });
  return kernel_.ask(request.finish());
}

Status Rtnetlink::add_route(const Route& route) {
  return change_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
}

Status Rtnetlink::remove_route(const Route& route) { return change_route(RTM_DELROUTE, 0, route); }

Result<std::vector<Rule>> Rtnetlink::rules() {
  std::vector<Rule> rules;
  for (const bool v6 : {false, true}) {
    netlink::Messages request;
    request.begin(RTM_GETRULE, NLM_F_DUMP, kernel_.next());
    fib_rule_hdr head{};
    head.family = v6 ? AF_INET6 : AF_INET;
    request.add(&head, sizeof head);
    const Status status =
        kernel_.ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
          if (header.nlmsg_type != RTM_NEWRULE || size < sizeof(fib_rule_hdr)) return;
          const auto found = value_of<fib_rule_hdr>(body, size);
          Rule rule{.v6 = v6, .table = found.table};
          std::uint8_t protocol = 0;
          netlink::each_attribute(body + sizeof found, size - sizeof found,
                                  [&](std::uint16_t type, const char* bytes, std::size_t length) {
                                    if (type == FRA_PROTOCOL) protocol = value_of<std::uint8_t>(bytes, length);
                                    if (type == FRA_PRIORITY) rule.preference = value_of<std::uint32_t>(bytes, length);
                                    if (type == FRA_FWMARK) rule.mark = value_of<std::uint32_t>(bytes, length);
                                    if (type == FRA_FWMASK) rule.mask = value_of<std::uint32_t>(bytes, length);
                                    if (type == FRA_TABLE) rule.table = value_of<std::uint32_t>(bytes, length);
                                  });
          if (found.action == FR_ACT_BLACKHOLE) rule.table = 0;
          if (rule.mark == 0) rule.mask = 0;
          if (protocol == kProtocol) rules.push_back(rule);
        });
    if (!status && status.error().code != ErrorCode::kUnimplemented) return status.error();
  }
  std::ranges::sort(rules);
  return rules;
}

Status Rtnetlink::change_rule(std::uint16_t type, std::uint16_t flags, const Rule& rule) {
  netlink::Messages request;
  request.begin(type, static_cast<std::uint16_t>(flags | NLM_F_ACK), kernel_.next());
  fib_rule_hdr head{};
  head.family = rule.v6 ? AF_INET6 : AF_INET;
  head.action = rule.table == 0 ? FR_ACT_BLACKHOLE : FR_ACT_TO_TBL;
  request.add(&head, sizeof head);
  request.number(FRA_PRIORITY, rule.preference);
  const std::uint8_t protocol = kProtocol;
  request.attribute(FRA_PROTOCOL, &protocol, sizeof protocol);
  if (rule.mask != 0) {
    request.number(FRA_FWMARK, rule.mark);
    request.number(FRA_FWMASK, rule.mask);
  }
  if (rule.table != 0) request.number(FRA_TABLE, rule.table);
  return kernel_.ask(request.finish());
}

Status Rtnetlink::add_rule(const Rule& rule) {
  Status status = change_rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, rule);
  if (!status && status.error().code == ErrorCode::kAlreadyExists) return {};
  return status;
}

Status Rtnetlink::remove_rule(const Rule& rule) { return change_rule(RTM_DELRULE, 0, rule); }

}  // namespace edge::agent::wan
