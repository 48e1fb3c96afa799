#include "agent/vip/flows.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "agent/vip/netlink_message.h"
#include "net/socket.h"

namespace edge::agent::vip {
namespace {

constexpr std::uint32_t kStates = 1U << TCP_ESTABLISHED | 1U << TCP_SYN_RECV | 1U << TCP_FIN_WAIT1 |
                                  1U << TCP_FIN_WAIT2 | 1U << TCP_CLOSE_WAIT | 1U << TCP_LAST_ACK | 1U << TCP_CLOSING;

Error diag_error(int number) {
  return {ErrorCode::kUnavailable,
          std::string("cannot list connections: ") + std::strerror(number)};  // NOLINT(concurrency-mt-unsafe)
}

IpAddress address_of(std::uint8_t family, const std::uint32_t* words) {
  IpAddress address;
  if (family == AF_INET6) {
    std::memcpy(address.bytes.data(), words, address.bytes.size());
  } else {
    address.bytes[kV4At - 2] = address.bytes[kV4At - 1] = 0xff;
    std::memcpy(address.bytes.data() + kV4At, words, 4);
  }
  return address;
}

/// Adds what a socket family has: an IPv4 connection of a socket of both families is told among those of IPv6.
Status list(int fd, std::uint8_t family, const IpAddress& address, std::size_t most, std::vector<Flow>& flows) {
  inet_diag_req_v2 question{};
  question.sdiag_family = family;
  question.sdiag_protocol = IPPROTO_TCP;
  question.idiag_states = kStates;
  NetlinkMessages request;
  request.begin(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, family);
  request.add(&question, sizeof question);
  const std::vector<char>& bytes = request.finish();
  if (::send(fd, bytes.data(), bytes.size(), 0) < 0) return diag_error(errno);
  std::vector<char> buffer(kNetlinkDatagram);
  std::optional<Status> end;
  while (!end) {
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return diag_error(size < 0 ? errno : EIO);
    netlink_messages(buffer.data(), static_cast<std::size_t>(size),
                     [&](const nlmsghdr& header, const char* body, std::size_t length) {
                       if (header.nlmsg_seq != family) return true;
                       if (header.nlmsg_type == NLMSG_DONE) end = Status();
                       if (header.nlmsg_type == NLMSG_ERROR) {
                         end = diag_error(-netlink_value<nlmsgerr>(body, length).error);
                       }
                       if (end || length < sizeof(inet_diag_msg)) return !end;
                       const auto one = netlink_value<inet_diag_msg>(body, length);
                       if (flows.size() < most && address_of(one.idiag_family, one.id.idiag_src) == address) {
                         flows.push_back({address_of(one.idiag_family, one.id.idiag_dst), ntohs(one.id.idiag_dport),
                                          ntohs(one.id.idiag_sport)});
                       }
                       return true;
                     });
  }
  return *end;
}

}  // namespace

Result<std::vector<Flow>> flows_to(const IpAddress& address, std::size_t most) {
  const net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!fd.valid()) return diag_error(errno);
  const timeval patience{.tv_sec = 0, .tv_usec = kNetlinkPatience};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::vector<Flow> flows;
  for (const std::uint8_t family : {std::uint8_t{AF_INET6}, std::uint8_t{AF_INET}}) {
    if (family == AF_INET && !address.is_v4()) continue;
    // A kernel without IPv6 refuses that family alone.
    if (Status status = list(fd.get(), family, address, most, flows); !status && family == AF_INET) {
      return status.error();
    }
  }
  return flows;
}

}  // namespace edge::agent::vip
