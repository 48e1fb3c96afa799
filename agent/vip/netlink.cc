#include "agent/vip/netlink.h"

#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/vip/netlink_message.h"

namespace edge::agent::vip {
namespace {

constexpr std::uint8_t kV4Prefix = 96;

Error error_of(int number, const std::string& what) {
  const std::string text = what + ": " + std::strerror(number);
  switch (number) {
    case EPERM:
    case EACCES:
      return {ErrorCode::kPermissionDenied, text};
    case EADDRNOTAVAIL:
    case ENODEV:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ESRCH:
      return {ErrorCode::kNotFound, text};
    case EEXIST:
      return {ErrorCode::kAlreadyExists, text};
    default:
      return {ErrorCode::kUnavailable, text};
  }
}

struct Raw {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};

/// Part of an address that the kernel is told: 4 bytes or 16.
Raw raw(const IpAddress& address) {
  if (address.is_v4()) return {address.bytes.data() + kV4At, 4};
  return {address.bytes.data(), 16};
}

IpAddress mapped(const void* bytes, std::size_t size) {
  IpAddress address;
  if (size == 4) {
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(address.bytes.data() + kV4At, bytes, 4);
  } else if (size == 16) {
    std::memcpy(address.bytes.data(), bytes, 16);
  }
  return address;
}

Result<net::Fd> open_socket(std::uint32_t groups) {
  net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (groups != 0 ? SOCK_NONBLOCK : 0), NETLINK_ROUTE));
  if (!fd.valid()) return error_of(errno, "cannot ask the kernel for its addresses");
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  own.nl_groups = groups;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    return error_of(errno, "cannot ask the kernel for its addresses");
  }
  const timeval patience{.tv_sec = 0, .tv_usec = kNetlinkPatience};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

}  // namespace

Result<Netlink> Netlink::open() {
  auto requests = open_socket(0);
  if (!requests) return requests.error();
  auto events = open_socket(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
  if (!events) return events.error();
  Netlink netlink(std::move(*requests), std::move(*events));
  if (Status status = netlink.refresh(); !status) return status.error();
  return netlink;
}

/// Sends, and reads until the answer's end. Each message of it goes to `take`.
Status Netlink::ask(const std::vector<char>& request) {
  const std::string what = "the kernel refuses";
  if (::send(requests_.get(), request.data(), request.size(), 0) < 0) return error_of(errno, what);
  std::vector<char> buffer(kNetlinkDatagram);
  for (;;) {
    const ssize_t size = ::recv(requests_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return error_of(size < 0 ? errno : EIO, what);
    std::optional<Status> end;
    netlink_messages(buffer.data(), static_cast<std::size_t>(size),
                     [&](const nlmsghdr& header, const char* body, std::size_t length) {
                       // An answer that came too late for its request.
                       if (header.nlmsg_seq != sequence_) return true;
                       if (header.nlmsg_type == NLMSG_DONE) end = Status();
                       if (header.nlmsg_type == NLMSG_ERROR) {
                         const int error = netlink_value<nlmsgerr>(body, length).error;
                         end = error == 0 ? Status() : Status(error_of(-error, what));
                       }
                       if (!end) take(header, body, length);
                       return !end;
                     });
    if (end) return *end;
  }
}

void Netlink::take(const nlmsghdr& header, const char* body, std::size_t size) {
  if (header.nlmsg_type == RTM_NEWLINK) take_link(body, size);
  if (header.nlmsg_type == RTM_NEWADDR) take_address(body, size);
  if (header.nlmsg_type == RTM_NEWROUTE && size >= sizeof(rtmsg)) {
    const auto route = netlink_value<rtmsg>(body, size);
    route_direct_ = route.rtm_type == RTN_UNICAST;
    netlink_attributes(body + sizeof route, size - sizeof route,
                       [&](std::uint16_t type, const char* bytes, std::size_t length) {
                         if (type == RTA_OIF) route_link_ = netlink_value<int>(bytes, length);
                         if (type == RTA_GATEWAY || type == RTA_VIA) route_direct_ = false;
                       });
  }
}

void Netlink::take_link(const char* message, std::size_t size) {
  if (size < sizeof(ifinfomsg)) return;
  const auto info = netlink_value<ifinfomsg>(message, size);
  Link link{.index = info.ifi_index, .name = {}};
  link.running = (info.ifi_flags & IFF_UP) != 0 && (info.ifi_flags & IFF_RUNNING) != 0;
  link.ethernet = info.ifi_type == ARPHRD_ETHER;
  netlink_attributes(message + sizeof info, size - sizeof info,
                     [&](std::uint16_t type, const char* bytes, std::size_t length) {
                       if (type == IFLA_IFNAME) link.name = std::string(bytes, ::strnlen(bytes, length));
                       if (type == IFLA_ADDRESS && length == link.mac.size())
                         std::memcpy(link.mac.data(), bytes, length);
                     });
  links_[link.index] = std::move(link);
}

void Netlink::take_address(const char* message, std::size_t size) {
  if (size < sizeof(ifaddrmsg)) return;
  const auto info = netlink_value<ifaddrmsg>(message, size);
  LocalAddress local{.link = static_cast<int>(info.ifa_index), .address = {}};
  bool known = false;
  local.prefix_length = static_cast<std::uint8_t>(info.ifa_prefixlen + (info.ifa_family == AF_INET ? kV4Prefix : 0));
  netlink_attributes(message + sizeof info, size - sizeof info,
                     [&](std::uint16_t type, const char* bytes, std::size_t length) {
                       // Of a point-to-point link IFA_ADDRESS is the other end.
                       if (type == IFA_LOCAL || (type == IFA_ADDRESS && !known)) {
                         local.address = mapped(bytes, length);
                         known = known || type == IFA_LOCAL;
                       }
                       if (type == IFA_CACHEINFO)
                         local.lasting = netlink_value<ifa_cacheinfo>(bytes, length).ifa_valid > kLifetime;
                     });
  addresses_.push_back(local);
}

Status Netlink::dump(std::uint16_t type) {
  NetlinkMessages request;
  request.begin(type, NLM_F_DUMP, ++sequence_);
  const rtgenmsg any{AF_UNSPEC};
  request.add(&any, sizeof any);
  return ask(request.finish());
}

Status Netlink::refresh() {
  links_.clear();
  addresses_.clear();
  Status status = dump(RTM_GETLINK);
  return status ? dump(RTM_GETADDR) : status;
}

const Link* Netlink::link(const std::string& name) const {
  for (const auto& [index, link] : links_) {
    if (link.name == name) return &link;
  }
  return nullptr;
}

const LocalAddress* Netlink::address(const IpAddress& address) const {
  const auto found = std::ranges::find(addresses_, address, &LocalAddress::address);
  return found == addresses_.end() ? nullptr : &*found;
}

Result<int> Netlink::on_link(const IpAddress& address) {
  NetlinkMessages request;
  request.begin(RTM_GETROUTE, 0, ++sequence_);
  rtmsg route{};
  const Raw to = raw(address);
  route.rtm_family = address.is_v4() ? AF_INET : AF_INET6;
  route.rtm_dst_len = static_cast<std::uint8_t>(to.size * 8);
  route.rtm_flags = RTM_F_LOOKUP_TABLE;
  request.add(&route, sizeof route);
  request.attribute(RTA_DST, to.data, to.size);
  route_link_.reset();
  route_direct_ = false;
  // One message answers, and nothing ends it: the acknowledgement that is asked for does.
  std::vector<char> bytes = request.finish();
  nlmsghdr header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  header.nlmsg_flags |= NLM_F_ACK;
  std::memcpy(bytes.data(), &header, sizeof header);
  if (Status status = ask(bytes); !status) return status.error();
  if (!route_link_ || !route_direct_) {
    return Error{ErrorCode::kNotFound, "no interface has a route to " + to_string(address) + " without a router"};
  }
  return *route_link_;
}

Status Netlink::change(std::uint16_t type, std::uint16_t flags, int link, const IpAddress& address,
                       std::uint8_t prefix_length, std::uint32_t lifetime) {
  NetlinkMessages request;
  request.begin(type, static_cast<std::uint16_t>(flags | NLM_F_ACK), ++sequence_);
  const bool v4 = address.is_v4();
  ifaddrmsg info{};
  info.ifa_family = v4 ? AF_INET : AF_INET6;
  info.ifa_prefixlen = static_cast<std::uint8_t>(v4 ? prefix_length - kV4Prefix : prefix_length);
  info.ifa_index = static_cast<std::uint32_t>(link);
  info.ifa_scope = RT_SCOPE_UNIVERSE;
  // Who had it before may answer for a moment: no reason to wait.
  if (!v4) info.ifa_flags = IFA_F_NODAD;
  request.add(&info, sizeof info);
  const Raw bytes = raw(address);
  request.attribute(IFA_LOCAL, bytes.data, bytes.size);
  request.attribute(IFA_ADDRESS, bytes.data, bytes.size);
  if (lifetime != 0) {
    // Not preferred: the node's own connections do not leave by it.
    const ifa_cacheinfo times{.ifa_prefered = 0, .ifa_valid = lifetime, .cstamp = 0, .tstamp = 0};
    request.attribute(IFA_CACHEINFO, &times, sizeof times);
  }
  return ask(request.finish());
}

Status Netlink::keep(int link, const IpAddress& address, std::uint8_t prefix_length) {
  return change(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, link, address, prefix_length, kLifetime);
}

Status Netlink::remove(int link, const IpAddress& address, std::uint8_t prefix_length) {
  return change(RTM_DELADDR, 0, link, address, prefix_length, 0);
}

void Netlink::drain() {
  std::vector<char> buffer(kNetlinkDatagram);
  while (::recv(events_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace edge::agent::vip
