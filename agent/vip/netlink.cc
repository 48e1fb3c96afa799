#include "agent/vip/netlink.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "net/netlink/message.h"

namespace edge::agent::vip {
namespace {

namespace netlink = net::netlink;

constexpr const char* kCannotAsk = "cannot ask the kernel for its addresses";

Result<net::Fd> open_events() {
  net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd.valid()) return netlink::error_of(errno, kCannotAsk);
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  own.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    return netlink::error_of(errno, kCannotAsk);
  }
  return fd;
}

}  // namespace

Result<Netlink> Netlink::open() {
  auto kernel = netlink::Socket::open({});
  if (!kernel) return Error{kernel.error().code, std::string(kCannotAsk) + ": " + kernel.error().text};
  auto events = open_events();
  if (!events) return events.error();
  Netlink netlink(std::move(*kernel), std::move(*events));
  if (Status status = netlink.refresh(); !status) return status.error();
  return netlink;
}

void Netlink::take_address(const char* message, std::size_t size) {
  if (size < sizeof(ifaddrmsg)) return;
  const auto info = netlink::value_of<ifaddrmsg>(message, size);
  LocalAddress local{.link = static_cast<int>(info.ifa_index), .address = {}};
  bool known = false;
  local.prefix_length =
      static_cast<std::uint8_t>(info.ifa_prefixlen + (info.ifa_family == AF_INET ? netlink::kMappedBits : 0));
  netlink::each_attribute(message + sizeof info, size - sizeof info,
                          [&](std::uint16_t type, const char* bytes, std::size_t length) {
                            // Of a point-to-point link IFA_ADDRESS is the other end.
                            if (type == IFA_LOCAL || (type == IFA_ADDRESS && !known)) {
                              local.address = netlink::address_of(bytes, length);
                              known = known || type == IFA_LOCAL;
                            }
                            if (type == IFA_CACHEINFO) {
                              local.lasting = netlink::value_of<ifa_cacheinfo>(bytes, length).ifa_valid > kLifetime;
                            }
                          });
  addresses_.push_back(local);
}

Status Netlink::refresh() {
  links_.clear();
  addresses_.clear();
  auto links = netlink::links(kernel_);
  if (!links) return links.error();
  for (Link& link : *links) {
    const int index = link.index;
    links_[index] = std::move(link);
  }
  netlink::Messages request;
  request.begin(RTM_GETADDR, NLM_F_DUMP, kernel_.next());
  const rtgenmsg any{AF_UNSPEC};
  request.add(&any, sizeof any);
  return kernel_.ask(request.finish(), [this](const nlmsghdr& header, const char* body, std::size_t size) {
    if (header.nlmsg_type == RTM_NEWADDR) take_address(body, size);
  });
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
  netlink::Messages request;
  // One message answers, and nothing ends it: the acknowledgement that is asked for does.
  request.begin(RTM_GETROUTE, NLM_F_ACK, kernel_.next());
  rtmsg route{};
  route.rtm_family = address.is_v4() ? AF_INET : AF_INET6;
  route.rtm_dst_len = address.is_v4() ? 32 : 128;
  route.rtm_flags = RTM_F_LOOKUP_TABLE;
  request.add(&route, sizeof route);
  request.address(RTA_DST, address);
  std::optional<int> link;
  bool direct = false;
  const Status status = kernel_.ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
    if (header.nlmsg_type != RTM_NEWROUTE || size < sizeof(rtmsg)) return;
    const auto found = netlink::value_of<rtmsg>(body, size);
    direct = found.rtm_type == RTN_UNICAST;
    netlink::each_attribute(body + sizeof found, size - sizeof found,
                            [&](std::uint16_t type, const char* bytes, std::size_t length) {
                              if (type == RTA_OIF) link = netlink::value_of<int>(bytes, length);
                              if (type == RTA_GATEWAY || type == RTA_VIA) direct = false;
                            });
  });
  if (!status) return status.error();
  if (!link || !direct) {
    return Error{ErrorCode::kNotFound, "no interface has a route to " + to_string(address) + " without a router"};
  }
  return *link;
}

Status Netlink::keep(int link, const IpAddress& address, std::uint8_t prefix_length) {
  return netlink::change_address(kernel_, {.type = RTM_NEWADDR,
                                           .flags = NLM_F_CREATE | NLM_F_REPLACE,
                                           .link = link,
                                           .address = address,
                                           .prefix_length = prefix_length,
                                           .lifetime = kLifetime});
}

Status Netlink::remove(int link, const IpAddress& address, std::uint8_t prefix_length) {
  return netlink::change_address(
      kernel_, {.type = RTM_DELADDR, .link = link, .address = address, .prefix_length = prefix_length});
}

void Netlink::drain() {
  std::vector<char> buffer(netlink::kDatagram);
  while (::recv(events_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace edge::agent::vip
