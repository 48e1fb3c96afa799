// Moves of an address whose connections cannot be kept: more new ones come than a table takes, or the kernel has no
// nftables. New connections go on in either case.
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <net/ethernet.h>

#include "agent/vip/netlink.h"
#include "agent/vip/nftables.h"
#include "net/netlink/message.h"
#include "tests/net/vip_net.h"

namespace edge::agent::vip {
namespace {

/// Of a frame's parts, as the checksum of RFC 1071 wants them.
std::uint16_t checksum(const void* data, std::size_t size, std::uint32_t sum = 0) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  for (std::size_t i = 0; i + 1 < size; i += 2) sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return htons(static_cast<std::uint16_t>(~sum));
}

struct Syn {
  iphdr ip{};
  tcphdr tcp{};
};

/// The first packet of a connection of `source` (192.0.2.SOURCE).
Syn syn(std::uint8_t source, std::uint16_t port, const IpAddress& to) {
  Syn packet;
  const std::uint8_t from[] = {192, 0, 2, source};
  packet.ip.version = 4;
  packet.ip.ihl = 5;
  packet.ip.ttl = 64;
  packet.ip.protocol = IPPROTO_TCP;
  packet.ip.tot_len = htons(sizeof packet);
  std::memcpy(&packet.ip.saddr, from, sizeof from);
  std::memcpy(&packet.ip.daddr, to.bytes.data() + net::netlink::kV4At, sizeof from);
  packet.ip.check = checksum(&packet.ip, sizeof packet.ip);
  packet.tcp.source = htons(port);
  packet.tcp.dest = htons(kWeb);
  packet.tcp.doff = 5;
  packet.tcp.syn = 1;
  packet.tcp.window = htons(1024);
  std::uint32_t pseudo = IPPROTO_TCP + sizeof packet.tcp;
  const auto* const words = reinterpret_cast<const std::uint8_t*>(&packet.ip.saddr);
  for (std::size_t i = 0; i < 8; i += 2) pseudo += static_cast<std::uint32_t>(words[i] << 8 | words[i + 1]);
  packet.tcp.check = checksum(&packet.tcp, sizeof packet.tcp, pseudo);
  return packet;
}

class VipBounds : public VipNet {
 protected:
  /// More first packets of connections than a table takes, from machines that are not there.
  void flood(const std::string& holder) {
    std::array<std::uint8_t, 6> mac{};
    in(holder, [&] {
      auto netlink = Netlink::open();
      ASSERT_TRUE(netlink && netlink->refresh());
      mac = netlink->link("eth0")->mac;
    });
    in("client", [&] {
      auto netlink = Netlink::open();
      ASSERT_TRUE(netlink && netlink->refresh());
      const net::Fd fd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      sockaddr_ll to{};
      to.sll_family = AF_PACKET;
      to.sll_protocol = htons(ETH_P_IP);
      to.sll_ifindex = netlink->link("eth0")->index;
      to.sll_halen = ETH_ALEN;
      std::copy(mac.begin(), mac.end(), to.sll_addr);
      constexpr std::size_t kPorts = 60'000;
      for (std::size_t i = 0; i < kMaxFlows + kMaxFlows / 8; ++i) {
        const auto source = static_cast<std::uint8_t>(60 + i / kPorts);
        const Syn packet = syn(source, static_cast<std::uint16_t>(1000 + i % kPorts), ips()[0]);
        ::sendto(fd.get(), &packet, sizeof packet, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
      }
    });
  }

  /// Both ends of a connection to the first address on the node that holds it.
  std::pair<net::Fd, net::Fd> open_at(const std::string& node) {
    forget_connections(node, 0);
    net::Fd client = dial(ips()[0]);
    net::Fd server = accept_at(node, 0);
    return {std::move(client), std::move(server)};
  }

  static bool is_reset(const net::Fd& client) {
    char byte = 'x';
    return ::send(client.get(), &byte, 1, MSG_NOSIGNAL) == 1 && ::recv(client.get(), &byte, 1, 0) < 0 &&
           errno == ECONNRESET;
  }
};

TEST_F(VipBounds, WhenTooManyNewConnectionsComeThoseOfTheNodeBeforeAreGivenUp) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  const std::string second = first == "a" ? "b" : "a";
  const auto before = open_at(first);
  ASSERT_TRUE(before.first.valid() && before.second.valid());
  move_to(second, 0);
  ASSERT_TRUE(talks(before.first, before.second));
  ASSERT_TRUE(await([&] { return connects(ips()[0]); }));
  EXPECT_EQ(logged("too many new connections to a virtual address"), 0U);
  flood(second);
  ASSERT_TRUE(await([&] { return logged("too many new connections to a virtual address") == 1; }));
  ASSERT_TRUE(await([&] { return connects(ips()[0]); })) << "new connections go on";
  EXPECT_TRUE(is_reset(before.first)) << "it goes to a node that does not know it";
  EXPECT_EQ(logged("too many new connections to a virtual address"), 1U);
}

/// As in a kernel without nftables: no socket of nfnetlink can be opened by this thread and those that it begins.
void forbid_nftables() {
  const auto field = [](std::size_t at) { return static_cast<std::uint32_t>(at); };
  std::array<sock_filter, 8> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field(offsetof(seccomp_data, nr))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field(offsetof(seccomp_data, args))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_NETFILTER, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPROTONOSUPPORT),
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

class VipWithoutNftables : public VipBounds {
 protected:
  VipWithoutNftables() { before_start_ = forbid_nftables; }
};

TEST_F(VipWithoutNftables, AMoveIsToldOfOnceAndNewConnectionsGoOn) {
  ASSERT_TRUE(await([&] { return !holder().empty() && all_connect(); }));
  const std::string first = holder();
  const std::string second = first == "a" ? "b" : "a";
  const auto before = open_at(first);
  ASSERT_TRUE(before.first.valid() && before.second.valid());
  for (const std::string& to : {second, first, second}) {
    move_to(to, 0);
    ASSERT_TRUE(await([&] { return connects(ips()[0]); })) << to;
  }
  EXPECT_TRUE(is_reset(before.first));
  for (const std::string& node : {first, second}) {
    EXPECT_EQ(logged(node + ": connections to a virtual address break when it moves: nftables: Protocol not"), 1U);
  }
}

}  // namespace
}  // namespace edge::agent::vip
