#include "agent/wan/tunnel/rtnetlink.h"

#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <net/if.h>

#include "agent/vip/netlink_message.h"

namespace edge::agent::wan {
namespace {

using vip::netlink_attributes;
using vip::netlink_messages;
using vip::netlink_value;
using vip::NetlinkMessages;

constexpr std::uint8_t kMappedBits = 96;

Error kernel_error(int number) {
  const std::string text = std::string("the kernel refuses: ") + std::strerror(number);
  switch (number) {
    case EPERM:
    case EACCES:
      return {ErrorCode::kPermissionDenied, text};
    case ENODEV:
    case ESRCH:
    case ENOENT:
    case EADDRNOTAVAIL:
      return {ErrorCode::kNotFound, text};
    case EEXIST:
      return {ErrorCode::kAlreadyExists, text};
    case EOPNOTSUPP:
    case EAFNOSUPPORT:
      return {ErrorCode::kUnimplemented, text};
    default:
      return {ErrorCode::kUnavailable, text};
  }
}

/// The part of an address that the kernel takes: 4 bytes or 16.
std::pair<const std::uint8_t*, std::size_t> wire(const IpAddress& address) {
  if (address.is_v4()) return {address.bytes.data() + vip::kV4At, 4};
  return {address.bytes.data(), 16};
}

IpAddress from_wire(const char* bytes, std::size_t size) {
  IpAddress address;
  if (size == 4) {
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(address.bytes.data() + vip::kV4At, bytes, 4);
  } else if (size == 16) {
    std::memcpy(address.bytes.data(), bytes, 16);
  }
  return address;
}

void put_address(NetlinkMessages& request, std::uint16_t type, const IpAddress& address) {
  const auto [bytes, size] = wire(address);
  request.attribute(type, bytes, size);
}

void put_number(NetlinkMessages& request, std::uint16_t type, std::uint32_t value) {
  request.attribute(type, &value, sizeof value);
}

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
  netlink_attributes(bytes, size, [&](std::uint16_t type, const char* value, std::size_t length) {
    if (type == RTAX_MTU) mtu = netlink_value<std::uint32_t>(value, length);
  });
  return mtu;
}

std::optional<Route> read_route(const char* body, std::size_t size) {
  if (size < sizeof(rtmsg)) return std::nullopt;
  const auto head = netlink_value<rtmsg>(body, size);
  const bool v6 = head.rtm_family == AF_INET6;
  Route route{.table = head.rtm_table, .to = any_network(v6)};
  if (head.rtm_type == RTN_UNREACHABLE) route.kind = RouteKind::kUnreachable;
  if (head.rtm_type == RTN_THROW) route.kind = RouteKind::kThrow;
  netlink_attributes(body + sizeof head, size - sizeof head,
                     [&](std::uint16_t type, const char* bytes, std::size_t length) {
                       if (type == RTA_TABLE) route.table = netlink_value<std::uint32_t>(bytes, length);
                       if (type == RTA_DST) {
                         route.to.address = from_wire(bytes, length);
                         route.to.prefix_length = static_cast<std::uint8_t>(head.rtm_dst_len + (v6 ? 0 : kMappedBits));
                       }
                       if (type == RTA_OIF) route.link = netlink_value<int>(bytes, length);
                       if (type == RTA_GATEWAY) route.gateway = from_wire(bytes, length);
                       if (type == RTA_PREFSRC) route.source = from_wire(bytes, length);
                       if (type == RTA_PRIORITY) route.metric = netlink_value<std::uint32_t>(bytes, length);
                       if (type == RTA_METRICS) route.mtu = metric_mtu(bytes, length);
                     });
  // IPv6 names the loopback link for what leads nowhere.
  if (route.kind != RouteKind::kUnicast) route.link = 0;
  return route;
}

}  // namespace

Result<Rtnetlink> Rtnetlink::open() {
  net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) return kernel_error(errno);
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return kernel_error(errno);
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  // The kernel selects routes itself: a node may have a million of others.
  const int strict = 1;
  ::setsockopt(fd.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &strict, sizeof strict);
  return Rtnetlink(std::move(fd));
}

/// Sends, and reads until the answer's end. Each message of it goes to `take(header, body, size)`.
template <typename Take>
Status Rtnetlink::ask(const std::vector<char>& request, Take take) {
  if (::send(fd_.get(), request.data(), request.size(), 0) < 0) return kernel_error(errno);
  std::vector<char> buffer(vip::kNetlinkDatagram);
  for (;;) {
    const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return kernel_error(size < 0 ? errno : EIO);
    std::optional<Status> end;
    netlink_messages(buffer.data(), static_cast<std::size_t>(size),
                     [&](const nlmsghdr& header, const char* body, std::size_t length) {
                       if (header.nlmsg_seq != sequence_) return true;
                       if (header.nlmsg_type == NLMSG_DONE) end = Status();
                       if (header.nlmsg_type == NLMSG_ERROR) {
                         const int error = netlink_value<nlmsgerr>(body, length).error;
                         end = error == 0 ? Status() : Status(kernel_error(-error));
                       }
                       if (!end) take(header, body, length);
                       return !end;
                     });
    if (end) return *end;
  }
}

Status Rtnetlink::change(const std::vector<char>& request) {
  return ask(request, [](const nlmsghdr&, const char*, std::size_t) {});
}

Result<std::vector<TunnelLink>> Rtnetlink::links() {
  NetlinkMessages request;
  request.begin(RTM_GETLINK, NLM_F_DUMP, ++sequence_);
  const ifinfomsg any{};
  request.add(&any, sizeof any);
  std::vector<TunnelLink> links;
  const Status status = ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
    if (header.nlmsg_type != RTM_NEWLINK || size < sizeof(ifinfomsg)) return;
    const auto head = netlink_value<ifinfomsg>(body, size);
    TunnelLink link{.index = head.ifi_index, .name = {}, .alias = {}};
    link.up = (head.ifi_flags & IFF_UP) != 0;
    netlink_attributes(body + sizeof head, size - sizeof head,
                       [&](std::uint16_t type, const char* bytes, std::size_t length) {
                         if (type == IFLA_IFNAME) link.name = std::string(bytes, ::strnlen(bytes, length));
                         if (type == IFLA_IFALIAS) link.alias = std::string(bytes, ::strnlen(bytes, length));
                         if (type == IFLA_MTU) link.mtu = netlink_value<std::uint32_t>(bytes, length);
                       });
    links.push_back(std::move(link));
  });
  if (!status) return status.error();
  return links;
}

Status Rtnetlink::add_wireguard(const std::string& name) {
  NetlinkMessages request;
  request.begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, ++sequence_);
  const ifinfomsg head{};
  request.add(&head, sizeof head);
  request.text(IFLA_IFNAME, name);
  request.nest(IFLA_LINKINFO, [&] { request.text(IFLA_INFO_KIND, "wireguard"); });
  return change(request.finish());
}

Status Rtnetlink::set_link(int index, const std::string& alias, std::uint32_t mtu) {
  NetlinkMessages request;
  request.begin(RTM_NEWLINK, NLM_F_ACK, ++sequence_);
  ifinfomsg head{};
  head.ifi_index = index;
  head.ifi_flags = IFF_UP;
  head.ifi_change = IFF_UP;
  request.add(&head, sizeof head);
  put_number(request, IFLA_MTU, mtu);
  request.attribute(IFLA_IFALIAS, alias.data(), alias.size());
  return change(request.finish());
}

Status Rtnetlink::remove_link(int index) {
  NetlinkMessages request;
  request.begin(RTM_DELLINK, NLM_F_ACK, ++sequence_);
  ifinfomsg head{};
  head.ifi_index = index;
  request.add(&head, sizeof head);
  return change(request.finish());
}

Status Rtnetlink::add_address(int link, const IpAddress& address) {
  NetlinkMessages request;
  request.begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, ++sequence_);
  const auto [bytes, size] = wire(address);
  ifaddrmsg head{};
  head.ifa_family = address.is_v4() ? AF_INET : AF_INET6;
  head.ifa_prefixlen = static_cast<std::uint8_t>(size * 8);
  head.ifa_flags = address.is_v4() ? 0 : IFA_F_NODAD;
  head.ifa_index = static_cast<std::uint32_t>(link);
  request.add(&head, sizeof head);
  request.attribute(IFA_LOCAL, bytes, size);
  request.attribute(IFA_ADDRESS, bytes, size);
  Status status = change(request.finish());
  if (!status && status.error().code == ErrorCode::kAlreadyExists) return {};
  return status;
}

Result<std::vector<Route>> Rtnetlink::routes() {
  std::vector<Route> routes;
  for (const unsigned char family : {AF_INET, AF_INET6}) {
    NetlinkMessages request;
    request.begin(RTM_GETROUTE, NLM_F_DUMP, ++sequence_);
    rtmsg head{};
    head.rtm_family = family;
    head.rtm_protocol = kProtocol;
    request.add(&head, sizeof head);
    const Status status = ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
      if (header.nlmsg_type != RTM_NEWROUTE || netlink_value<rtmsg>(body, size).rtm_protocol != kProtocol) return;
      if (auto route = read_route(body, size)) routes.push_back(*route);
    });
    if (!status && status.error().code != ErrorCode::kUnimplemented) return status.error();
  }
  std::sort(routes.begin(), routes.end());
  return routes;
}

std::vector<Route> Rtnetlink::default_routes(bool v6) {
  NetlinkMessages request;
  request.begin(RTM_GETROUTE, NLM_F_DUMP, ++sequence_);
  rtmsg head{};
  head.rtm_family = v6 ? AF_INET6 : AF_INET;
  head.rtm_table = RT_TABLE_MAIN;
  request.add(&head, sizeof head);
  std::vector<Route> routes;
  const Status status = ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
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
  NetlinkMessages request;
  request.begin(type, static_cast<std::uint16_t>(flags | NLM_F_ACK), ++sequence_);
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
  put_number(request, RTA_TABLE, route.table);
  if (head.rtm_dst_len != 0) put_address(request, RTA_DST, route.to.address);
  if (unicast) put_number(request, RTA_OIF, static_cast<std::uint32_t>(route.link));
  if (route.gateway) put_address(request, RTA_GATEWAY, *route.gateway);
  if (route.source) put_address(request, RTA_PREFSRC, *route.source);
  if (route.metric != 0) put_number(request, RTA_PRIORITY, route.metric);
  if (route.mtu != 0) request.nest(RTA_METRICS, [&] { put_number(request, RTAX_MTU, route.mtu); });
  return change(request.finish());
}

Status Rtnetlink::add_route(const Route& route) {
  return change_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route);
}

Status Rtnetlink::remove_route(const Route& route) { return change_route(RTM_DELROUTE, 0, route); }

Result<std::vector<Rule>> Rtnetlink::rules() {
  std::vector<Rule> rules;
  for (const bool v6 : {false, true}) {
    NetlinkMessages request;
    request.begin(RTM_GETRULE, NLM_F_DUMP, ++sequence_);
    fib_rule_hdr head{};
    head.family = v6 ? AF_INET6 : AF_INET;
    request.add(&head, sizeof head);
    const Status status = ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
      if (header.nlmsg_type != RTM_NEWRULE || size < sizeof(fib_rule_hdr)) return;
      const auto found = netlink_value<fib_rule_hdr>(body, size);
      Rule rule{.v6 = v6, .table = found.table};
      std::uint8_t protocol = 0;
      netlink_attributes(body + sizeof found, size - sizeof found,
                         [&](std::uint16_t type, const char* bytes, std::size_t length) {
                           if (type == FRA_PROTOCOL) protocol = netlink_value<std::uint8_t>(bytes, length);
                           if (type == FRA_PRIORITY) rule.preference = netlink_value<std::uint32_t>(bytes, length);
                           if (type == FRA_FWMARK) rule.mark = netlink_value<std::uint32_t>(bytes, length);
                           if (type == FRA_FWMASK) rule.mask = netlink_value<std::uint32_t>(bytes, length);
                           if (type == FRA_TABLE) rule.table = netlink_value<std::uint32_t>(bytes, length);
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
  NetlinkMessages request;
  request.begin(type, static_cast<std::uint16_t>(flags | NLM_F_ACK), ++sequence_);
  fib_rule_hdr head{};
  head.family = rule.v6 ? AF_INET6 : AF_INET;
  head.action = rule.table == 0 ? FR_ACT_BLACKHOLE : FR_ACT_TO_TBL;
  request.add(&head, sizeof head);
  put_number(request, FRA_PRIORITY, rule.preference);
  const std::uint8_t protocol = kProtocol;
  request.attribute(FRA_PROTOCOL, &protocol, sizeof protocol);
  if (rule.mask != 0) {
    put_number(request, FRA_FWMARK, rule.mark);
    put_number(request, FRA_FWMASK, rule.mask);
  }
  if (rule.table != 0) put_number(request, FRA_TABLE, rule.table);
  return change(request.finish());
}

Status Rtnetlink::add_rule(const Rule& rule) {
  Status status = change_rule(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, rule);
  if (!status && status.error().code == ErrorCode::kAlreadyExists) return {};
  return status;
}

Status Rtnetlink::remove_rule(const Rule& rule) { return change_rule(RTM_DELRULE, 0, rule); }

}  // namespace edge::agent::wan
