#include "agent/wan/probe_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <ifaddrs.h>
#include <net/if.h>

namespace edge::agent::wan {
namespace {

constexpr int kFarthest = 255;
constexpr int kReflectorBuffer = 1 << 20;

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

Error socket_failure(const std::string& what) {
  const ErrorCode code = errno == EPERM || errno == EACCES ? ErrorCode::kPermissionDenied
                         : errno == EADDRINUSE             ? ErrorCode::kAlreadyExists
                                                           : ErrorCode::kUnavailable;
  return {code, what + ": " + std::strerror(errno)};
}

sockaddr_in6 in6(const net::SocketAddress& from) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(from.port);
  std::memcpy(address.sin6_addr.s6_addr, from.address.bytes.data(), from.address.bytes.size());
  return address;
}

template <typename Value>
void set_option(int fd, int level, int option, Value value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

/// A socket of IPv4, or of both families, with the address as its kind takes it.
struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};
Address address_of(int family, const net::SocketAddress& from) {
  Address address;
  if (family == AF_INET6) {
    const sockaddr_in6 six = in6(from);
    std::memcpy(&address.bytes, &six, sizeof six);
    address.size = sizeof six;
  } else {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(from.port);
    std::memcpy(&four.sin_addr, from.address.bytes.data() + 12, sizeof four.sin_addr);
    std::memcpy(&address.bytes, &four, sizeof four);
    address.size = sizeof four;
  }
  return address;
}

Status lead(int fd, int family, const ProbeRoute& route) {
  if (!route.interface.empty() && ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, route.interface.c_str(),
                                               static_cast<socklen_t>(route.interface.size())) != 0) {
    return socket_failure("interface " + route.interface);
  }
  if (route.own) {
    const Address own = address_of(family, {*route.own, 0});
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&own.bytes), own.size) != 0) {
      return socket_failure(to_string(*route.own));
    }
  }
  const Address to = address_of(family, route.to);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to.bytes), to.size) != 0 && errno != EINPROGRESS) {
    return socket_failure(to_string(route.to.address));
  }
  return {};
}

}  // namespace

Time boot_now() { return Time(clock_ns(CLOCK_BOOTTIME)); }

std::int64_t wall_now() {
  static const std::int64_t offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
  return offset + clock_ns(CLOCK_BOOTTIME);
}

Result<net::Fd> open_query_socket(const ProbeRoute& route) {
  net::Fd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return socket_failure("socket");
  set_option(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
  set_option(fd.get(), IPPROTO_IP, IP_TTL, kFarthest);
  set_option(fd.get(), IPPROTO_IPV6, IPV6_UNICAST_HOPS, kFarthest);
  if (Status status = lead(fd.get(), AF_INET6, route); !status) return status.error();
  return fd;
}

Result<net::Fd> open_reflector_socket(std::uint16_t port) {
  net::Fd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return socket_failure("socket");
  set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  set_option(fd.get(), SOL_SOCKET, SO_RCVBUF, kReflectorBuffer);
  set_option(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
  set_option(fd.get(), IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  set_option(fd.get(), IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
  set_option(fd.get(), IPPROTO_IP, IP_RECVTTL, 1);
  set_option(fd.get(), IPPROTO_IP, IP_TTL, kFarthest);
  set_option(fd.get(), IPPROTO_IPV6, IPV6_UNICAST_HOPS, kFarthest);
  const sockaddr_in6 any = in6({IpAddress(), port});
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    return socket_failure("UDP port " + std::to_string(port));
  }
  return fd;
}

Result<EchoSocket> open_echo_socket(const ProbeRoute& route) {
  const bool v4 = route.to.address.is_v4();
  const int family = v4 ? AF_INET : AF_INET6;
  const int protocol = v4 ? static_cast<int>(IPPROTO_ICMP) : static_cast<int>(IPPROTO_ICMPV6);
  EchoSocket echo{.fd = net::Fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol))};
  if (!echo.fd.valid()) {
    echo.fd = net::Fd(::socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
    echo.raw = true;
  }
  if (!echo.fd.valid()) return socket_failure("ICMP");
  set_option(echo.fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, 1);
  if (Status status = lead(echo.fd.get(), family, route); !status) return status.error();
  return echo;
}

Result<net::Fd> open_tcp_probe(const ProbeRoute& route) {
  net::Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return socket_failure("socket");
  set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  net::reset_on_close(fd.get());
  if (Status status = lead(fd.get(), AF_INET6, route); !status) return status.error();
  return fd;
}

std::optional<ReceivedProbe> receive_probe(int fd, std::span<char> into) {
  sockaddr_in6 from{};
  alignas(cmsghdr) std::array<char, 256> control;
  iovec piece{.iov_base = into.data(), .iov_len = into.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(fd, &message, MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  ReceivedProbe probe{.size = static_cast<std::size_t>(size)};
  if (from.sin6_family == AF_INET6) {
    std::memcpy(probe.from.address.bytes.data(), from.sin6_addr.s6_addr, probe.from.address.bytes.size());
    probe.from.port = ntohs(from.sin6_port);
  }
  const Time now = boot_now();
  probe.arrived = now;
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item)) {
    const auto is = [&](int level, int type) { return item->cmsg_level == level && item->cmsg_type == type; };
    if (is(SOL_SOCKET, SCM_TIMESTAMPNS)) {
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(item), sizeof stamp);
      const Time age(clock_ns(CLOCK_REALTIME) - (stamp.tv_sec * 1'000'000'000LL + stamp.tv_nsec));
      // A clock that was set in between would make it absurd.
      if (age > Time::zero() && age < std::chrono::seconds(1)) probe.arrived = now - age;
    } else if (is(IPPROTO_IPV6, IPV6_PKTINFO)) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(item), sizeof info);
      probe.to.emplace();
      std::memcpy(probe.to->bytes.data(), info.ipi6_addr.s6_addr, probe.to->bytes.size());
      probe.interface = static_cast<int>(info.ipi6_ifindex);
    } else if (is(IPPROTO_IPV6, IPV6_HOPLIMIT) || is(IPPROTO_IP, IP_TTL)) {
      int ttl = 0;
      std::memcpy(&ttl, CMSG_DATA(item), sizeof ttl);
      probe.ttl = static_cast<std::uint8_t>(ttl);
    }
  }
  probe.wall = wall_now() - (boot_now() - probe.arrived).count();
  return probe;
}

std::optional<IpAddress> interface_address(const std::string& interface) {
  ifaddrs* first = nullptr;
  if (interface.empty() || ::getifaddrs(&first) != 0) return std::nullopt;
  std::optional<IpAddress> found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || interface != one->ifa_name) continue;
    if (one->ifa_addr->sa_family == AF_INET) {
      found = parse_ip("0.0.0.0");
      std::memcpy(found->bytes.data() + 12, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, 4);
      break;
    }
    if (one->ifa_addr->sa_family != AF_INET6 || found) continue;
    const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;
    found.emplace();
    std::memcpy(found->bytes.data(), address.s6_addr, found->bytes.size());
  }
  ::freeifaddrs(first);
  return found;
}

bool send_back(int fd, const ReceivedProbe& query, std::string_view packet) {
  sockaddr_in6 to = in6(query.from);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  iovec piece{.iov_base = const_cast<char*>(packet.data()), .iov_len = packet.size()};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (query.to) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = IPPROTO_IPV6;
    item->cmsg_type = IPV6_PKTINFO;
    item->cmsg_len = CMSG_LEN(sizeof(in6_pktinfo));
    in6_pktinfo info{};
    std::memcpy(info.ipi6_addr.s6_addr, query.to->bytes.data(), query.to->bytes.size());
    info.ipi6_ifindex = static_cast<unsigned>(query.interface);
    std::memcpy(CMSG_DATA(item), &info, sizeof info);
  }
  return ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace edge::agent::wan
