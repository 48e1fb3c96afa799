#include "agent/vip/flows.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "net/netlink/message.h"
#include "net/socket.h"

namespace edge::agent::vip {
namespace {

namespace netlink = net::netlink;

constexpr auto kLongest = std::chrono::milliseconds(100);
constexpr std::uint32_t kStates = 1U << TCP_ESTABLISHED | 1U << TCP_SYN_RECV | 1U << TCP_FIN_WAIT1 |
                                  1U << TCP_FIN_WAIT2 | 1U << TCP_CLOSE_WAIT | 1U << TCP_LAST_ACK | 1U << TCP_CLOSING;

Error diag_error(int number) {
  return {ErrorCode::kUnavailable, std::string("cannot list connections: ") + std::strerror(number)};
}

IpAddress address_of(std::uint8_t family, const std::uint32_t* words) {
  IpAddress address;
  if (family == AF_INET6) {
    std::memcpy(address.bytes.data(), words, address.bytes.size());
  } else {
    address.bytes[netlink::kV4At - 2] = address.bytes[netlink::kV4At - 1] = 0xff;
    std::memcpy(address.bytes.data() + netlink::kV4At, words, 4);
  }
  return address;
}

/// Calls `take` for each connection of the sockets of a family: an IPv4 connection of a socket of both families is told
/// among those of IPv6.
template <typename Take>
Status list(int fd, std::uint8_t family, std::chrono::steady_clock::time_point until, Take take) {
  inet_diag_req_v2 question{};
  question.sdiag_family = family;
  question.sdiag_protocol = IPPROTO_TCP;
  question.idiag_states = kStates;
  netlink::Messages request;
  request.begin(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, family);
  request.add(&question, sizeof question);
  const std::vector<char>& bytes = request.finish();
  if (::send(fd, bytes.data(), bytes.size(), 0) < 0) return diag_error(errno);
  std::vector<char> buffer(netlink::kDatagram);
  std::optional<Status> end;
  while (!end) {
    if (std::chrono::steady_clock::now() > until) return diag_error(ETIMEDOUT);
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return diag_error(size < 0 ? errno : EIO);
    netlink::each_message(buffer.data(), static_cast<std::size_t>(size),
                          [&](const nlmsghdr& header, const char* body, std::size_t length) {
                            if (header.nlmsg_seq != family) return true;
                            if (header.nlmsg_type == NLMSG_DONE) end = Status();
                            if (header.nlmsg_type == NLMSG_ERROR) {
                              end = diag_error(-netlink::value_of<nlmsgerr>(body, length).error);
                            }
                            if (!end && length >= sizeof(inet_diag_msg))
                              take(netlink::value_of<inet_diag_msg>(body, length));
                            return !end;
                          });
  }
  return *end;
}

/// Of both families.
template <typename Take>
Status list_all(Take take) {
  const net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!fd.valid()) return diag_error(errno);
  const timeval patience{.tv_sec = 0, .tv_usec = netlink::kPatience};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto until = std::chrono::steady_clock::now() + kLongest;
  for (const std::uint8_t family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
    // A kernel without IPv6 refuses that family alone.
    Status status = list(fd.get(), family, until, take);
    if (!status && (family == AF_INET || std::chrono::steady_clock::now() > until)) return status;
  }
  return {};
}

}  // namespace

Result<std::vector<Flow>> flows_to(const IpAddress& address, std::size_t most) {
  std::vector<Flow> flows;
  const Status status = list_all([&](const inet_diag_msg& one) {
    if (flows.size() >= most || address_of(one.idiag_family, one.id.idiag_src) != address) return;
    flows.push_back(
        {address_of(one.idiag_family, one.id.idiag_dst), ntohs(one.id.idiag_dport), ntohs(one.id.idiag_sport)});
  });
  if (!status) return status.error();
  return flows;
}

Result<std::set<IpAddress>> addresses_with_flows() {
  std::set<IpAddress> addresses;
  const Status status =
      list_all([&](const inet_diag_msg& one) { addresses.insert(address_of(one.idiag_family, one.id.idiag_src)); });
  if (!status) return status.error();
  return addresses;
}

}  // namespace edge::agent::vip
