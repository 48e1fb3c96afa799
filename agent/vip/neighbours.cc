#include "agent/vip/neighbours.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <net/ethernet.h>

#include "net/netlink/message.h"

namespace edge::agent::vip {
namespace {

constexpr std::size_t kArpSize = 28;
constexpr std::size_t kAdvertisementSize = 24;
constexpr std::uint8_t kTargetLinkLayer = 2;  // RFC 4861 §4.6
constexpr std::uint8_t kOverride = 0x20;      // in the first byte of the flags
constexpr std::uint8_t kAllNodes[16] = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
using Mac = std::array<std::uint8_t, 6>;
constexpr Mac kEveryone = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

Error packet_error(int number, const std::string& what) {
  const std::string text = what + ": " + std::strerror(number);
  return {number == EPERM || number == EACCES ? ErrorCode::kPermissionDenied : ErrorCode::kUnavailable, text};
}

/// For Ethernet and IPv4 (RFC 826): of whom who speaks says that he has it, to whom.
std::array<std::uint8_t, kArpSize> arp_packet(std::uint16_t operation, const Mac& mac, const std::uint8_t* address) {
  std::array<std::uint8_t, kArpSize> packet{0, 1, 0x08, 0, 6, 4, 0, static_cast<std::uint8_t>(operation)};
  std::copy(mac.begin(), mac.end(), packet.begin() + 8);
  std::copy(address, address + 4, packet.begin() + 14);
  if (operation == 2) std::copy(mac.begin(), mac.end(), packet.begin() + 18);
  std::copy(address, address + 4, packet.begin() + 24);
  return packet;
}

Status announce_v4(int fd, const Link& link, const IpAddress& address) {
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_ARP);
  to.sll_ifindex = link.index;
  to.sll_halen = ETH_ALEN;
  std::copy(kEveryone.begin(), kEveryone.end(), to.sll_addr);
  // As a question, which RFC 5227 has, and as an answer: there are machines that learn from one of them alone.
  for (const std::uint16_t operation : {std::uint16_t{1}, std::uint16_t{2}}) {
    const auto packet = arp_packet(operation, link.mac, address.bytes.data() + net::netlink::kV4At);
    if (::sendto(fd, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) < 0) {
      return packet_error(errno, "cannot send ARP on " + link.name);
    }
  }
  return {};
}

Status announce_v6(int fd, const Link& link, const IpAddress& address) {
  std::array<std::uint8_t, kAdvertisementSize + 8> packet{ND_NEIGHBOR_ADVERT, 0, 0, 0, kOverride};
  std::copy(address.bytes.begin(), address.bytes.end(), packet.begin() + 8);
  packet[kAdvertisementSize] = kTargetLinkLayer;
  packet[kAdvertisementSize + 1] = 1;  // of 8 bytes
  std::copy(link.mac.begin(), link.mac.end(), packet.begin() + kAdvertisementSize + 2);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_scope_id = static_cast<std::uint32_t>(link.index);
  std::memcpy(&to.sin6_addr, kAllNodes, sizeof kAllNodes);
  // From the address itself: the kernel would take another one.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  iovec part{packet.data(), packet.size()};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = IPPROTO_IPV6;
  head->cmsg_type = IPV6_PKTINFO;
  head->cmsg_len = CMSG_LEN(sizeof(in6_pktinfo));
  in6_pktinfo from{};
  std::memcpy(&from.ipi6_addr, address.bytes.data(), address.bytes.size());
  from.ipi6_ifindex = static_cast<unsigned>(link.index);
  std::memcpy(CMSG_DATA(head), &from, sizeof from);
  if (::sendmsg(fd, &message, 0) < 0)
    return packet_error(errno, "cannot send a neighbor advertisement on " + link.name);
  return {};
}

/// Advertisements alone, with the hop limit that tells that they are of this link (RFC 4861 §7.1.2).
net::Fd open_advertisements() {
  net::Fd fd(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_ICMPV6));
  if (!fd.valid()) return fd;
  icmp6_filter filter;
  ICMP6_FILTER_SETBLOCKALL(&filter);
  ICMP6_FILTER_SETPASS(ND_NEIGHBOR_ADVERT, &filter);
  const int hops = 255;
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter);
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &off, sizeof off);
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on);
  return fd;
}

}  // namespace

std::string mac_text(const Mac& mac) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
                mac[5]);
  return text.data();
}

Result<Neighbours> Neighbours::open() {
  net::Fd arp(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ARP)));
  if (!arp.valid()) return packet_error(errno, "cannot speak ARP");
  return Neighbours(std::move(arp), open_advertisements());
}

Status Neighbours::announce(const Link& link, const IpAddress& address) {
  if (!link.ethernet) return {};
  if (address.is_v4()) return announce_v4(arp_.get(), link, address);
  if (!nd_.valid()) return Error{ErrorCode::kUnavailable, "this machine has no IPv6"};
  return announce_v6(nd_.get(), link, address);
}

std::optional<Claimed> read_arp(const std::uint8_t* packet, std::size_t size) {
  constexpr std::uint8_t kHead[] = {0, 1, 0x08, 0, 6, 4, 0};
  if (size < kArpSize || !std::equal(std::begin(kHead), std::end(kHead), packet)) return std::nullopt;
  Claimed claimed;
  std::copy(packet + 8, packet + 14, claimed.mac.begin());
  claimed.address.bytes[10] = claimed.address.bytes[11] = 0xff;
  std::copy(packet + 14, packet + 18, claimed.address.bytes.begin() + net::netlink::kV4At);
  const bool probe = std::all_of(packet + 14, packet + 18, [](std::uint8_t byte) { return byte == 0; });
  return probe ? std::nullopt : std::optional(claimed);
}

std::optional<Claimed> read_advertisement(const std::uint8_t* packet, std::size_t size) {
  if (size < kAdvertisementSize || packet[0] != ND_NEIGHBOR_ADVERT || packet[1] != 0) return std::nullopt;
  Claimed claimed;
  std::copy(packet + 8, packet + 24, claimed.address.bytes.begin());
  for (std::size_t at = kAdvertisementSize; at + 8 <= size;) {
    const std::size_t length = std::size_t{packet[at + 1]} * 8;
    if (length == 0 || at + length > size) return std::nullopt;
    if (packet[at] == kTargetLinkLayer) {
      std::copy(packet + at + 2, packet + at + 8, claimed.mac.begin());
      return claimed;
    }
    at += length;
  }
  return std::nullopt;
}

std::optional<Claimed> Neighbours::next() {
  auto claimed = next_arp();
  return claimed ? claimed : next_advertisement();
}

std::optional<Claimed> Neighbours::next_arp() {
  for (;;) {
    std::array<std::uint8_t, 128> packet{};
    sockaddr_ll from{};
    socklen_t length = sizeof from;
    const ssize_t size =
        ::recvfrom(arp_.get(), packet.data(), packet.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0) return std::nullopt;
    if (from.sll_pkttype == PACKET_OUTGOING) continue;
    auto claimed = read_arp(packet.data(), static_cast<std::size_t>(size));
    if (!claimed) continue;
    claimed->link = from.sll_ifindex;
    return claimed;
  }
}

std::optional<Claimed> Neighbours::next_advertisement() {
  while (nd_.valid()) {
    std::array<std::uint8_t, 512> packet{};
    alignas(cmsghdr) std::array<char, 128> control{};
    iovec part{packet.data(), packet.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(nd_.get(), &message, 0);
    if (size < 0) return std::nullopt;
    auto claimed = read_advertisement(packet.data(), static_cast<std::size_t>(size));
    int hops = 0;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != IPPROTO_IPV6) continue;
      if (head->cmsg_type == IPV6_HOPLIMIT) std::memcpy(&hops, CMSG_DATA(head), sizeof hops);
      if (head->cmsg_type == IPV6_PKTINFO && claimed) {
        in6_pktinfo info{};
        std::memcpy(&info, CMSG_DATA(head), sizeof info);
        claimed->link = static_cast<int>(info.ipi6_ifindex);
      }
    }
    if (claimed && hops == 255) return claimed;
  }
  return std::nullopt;
}

}  // namespace edge::agent::vip
