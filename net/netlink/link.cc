#include "net/netlink/link.h"

#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/netlink/message.h"

namespace edge::net::netlink {
namespace {

/// Of a list that others changed meanwhile.
constexpr int kMostTries = 5;

std::optional<Link> read_link(const char* message, std::size_t size) {
  if (size < sizeof(ifinfomsg)) return std::nullopt;
  const auto info = value_of<ifinfomsg>(message, size);
  Link link{.index = info.ifi_index};
  link.up = (info.ifi_flags & IFF_UP) != 0;
  link.running = link.up && (info.ifi_flags & IFF_RUNNING) != 0;
  link.ethernet = info.ifi_type == ARPHRD_ETHER;
  each_attribute(message + sizeof info, size - sizeof info,
                 [&](std::uint16_t type, const char* bytes, std::size_t length) {
                   if (type == IFLA_IFNAME) link.name = std::string(bytes, ::strnlen(bytes, length));
                   if (type == IFLA_IFALIAS) link.alias = std::string(bytes, ::strnlen(bytes, length));
                   if (type == IFLA_MTU) link.mtu = value_of<std::uint32_t>(bytes, length);
                   if (type == IFLA_ADDRESS && length == link.mac.size()) std::memcpy(link.mac.data(), bytes, length);
                 });
  return link;
}

}  // namespace

Result<LinkList> list_links(Socket& kernel) {
  LinkList list;
  for (int tries = 0; tries < kMostTries; ++tries) {
    Messages request;
    request.begin(RTM_GETLINK, NLM_F_DUMP, kernel.next());
    const ifinfomsg any{};
    request.add(&any, sizeof any);
    list.links.clear();
    const Status status = kernel.ask(request.finish(), [&](const nlmsghdr& header, const char* body, std::size_t size) {
      if (header.nlmsg_type != RTM_NEWLINK) return;
      if (auto link = read_link(body, size)) list.links.push_back(*std::move(link));
    });
    if (!status) return status.error();
    list.torn = kernel.interrupted();
    if (!list.torn) break;
  }
  return list;
}

Result<std::vector<Link>> links(Socket& kernel) {
  auto list = list_links(kernel);
  if (!list) return list.error();
  if (list->torn) return Error{ErrorCode::kUnavailable, "links change faster than they can be listed"};
  return std::move(list->links);
}

void update_links(std::vector<Link>& known, LinkList list) {
  if (list.torn) {
    for (Link& link : known) {
      const bool shown = std::ranges::any_of(
          list.links, [&](const Link& one) { return one.index == link.index || one.name == link.name; });
      if (!shown) list.links.push_back(std::move(link));
    }
  }
  known = std::move(list.links);
}

Status change_address(Socket& kernel, const AddressChange& change) {
  Messages request;
  request.begin(change.type, static_cast<std::uint16_t>(change.flags | NLM_F_ACK), kernel.next());
  const bool v4 = change.address.is_v4();
  ifaddrmsg info{};
  info.ifa_family = v4 ? AF_INET : AF_INET6;
  info.ifa_prefixlen = static_cast<std::uint8_t>(v4 ? change.prefix_length - kMappedBits : change.prefix_length);
  info.ifa_index = static_cast<std::uint32_t>(change.link);
  info.ifa_scope = RT_SCOPE_UNIVERSE;
  // Who had it before may answer for a moment: no reason to wait.
  if (!v4) info.ifa_flags = IFA_F_NODAD;
  request.add(&info, sizeof info);
  request.address(IFA_LOCAL, change.address);
  request.address(IFA_ADDRESS, change.address);
  if (change.lifetime != 0) {
    const ifa_cacheinfo times{.ifa_prefered = 0, .ifa_valid = change.lifetime, .cstamp = 0, .tstamp = 0};
    request.attribute(IFA_CACHEINFO, &times, sizeof times);
  }
  return kernel.ask(request.finish());
}

}  // namespace edge::net::netlink
