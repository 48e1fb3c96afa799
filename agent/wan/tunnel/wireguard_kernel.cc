// The kernel's WireGuard by generic netlink (linux/wireguard.h).
#include <linux/genetlink.h>
#include <linux/wireguard.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "agent/vip/netlink_message.h"
#include "agent/wan/tunnel/wireguard.h"

namespace edge::agent::wan {
namespace {

using vip::NetlinkMessages;

Error generic_error(int number) {
  const std::string text = std::string("the kernel's WireGuard: ") + std::strerror(number);
  if (number == EPERM || number == EACCES) return {ErrorCode::kPermissionDenied, text};
  if (number == ENOENT || number == ENODEV) return {ErrorCode::kNotFound, text};
  return {ErrorCode::kUnavailable, text};
}

/// A request to one family, and its answer.
class Generic {
 public:
  static Result<Generic> open() {
    net::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
    if (!fd.valid()) return generic_error(errno);
    sockaddr_nl own{};
    own.nl_family = AF_NETLINK;
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return generic_error(errno);
    const timeval patience{.tv_sec = 2, .tv_usec = 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    Generic generic(std::move(fd));
    NetlinkMessages request;
    generic.begin(request, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
    request.text(CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME);
    const Status status = generic.ask(request.finish(), [&](const char* body, std::size_t size) {
      vip::netlink_attributes(body, size, [&](std::uint16_t type, const char* bytes, std::size_t length) {
        if (type == CTRL_ATTR_FAMILY_ID) generic.family_ = vip::netlink_value<std::uint16_t>(bytes, length);
      });
    });
    if (!status) return status.error();
    return generic;
  }

  void begin(NetlinkMessages& request, std::uint16_t family, std::uint16_t flags, std::uint8_t command,
             std::uint8_t version) {
    request.begin(family, flags, ++sequence_);
    const genlmsghdr head{.cmd = command, .version = version, .reserved = 0};
    request.add(&head, sizeof head);
  }
  void begin(NetlinkMessages& request, std::uint16_t flags, std::uint8_t command) {
    begin(request, family_, flags, command, WG_GENL_VERSION);
  }

  /// Each message's attributes go to `take(bytes, size)`.
  template <typename Take>
  Status ask(const std::vector<char>& request, Take take) {
    if (::send(fd_.get(), request.data(), request.size(), 0) < 0) return generic_error(errno);
    std::vector<char> buffer(vip::kNetlinkDatagram);
    for (;;) {
      const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return generic_error(size < 0 ? errno : EIO);
      std::optional<Status> end;
      vip::netlink_messages(buffer.data(), static_cast<std::size_t>(size),
                            [&](const nlmsghdr& header, const char* body, std::size_t length) {
                              if (header.nlmsg_seq != sequence_) return true;
                              if (header.nlmsg_type == NLMSG_DONE) end = Status();
                              if (header.nlmsg_type == NLMSG_ERROR) {
                                const int error = vip::netlink_value<nlmsgerr>(body, length).error;
                                end = error == 0 ? Status() : Status(generic_error(-error));
                              }
                              if (!end && length > GENL_HDRLEN) take(body + GENL_HDRLEN, length - GENL_HDRLEN);
                              return !end;
                            });
      if (end) return *end;
    }
  }

 private:
  explicit Generic(net::Fd fd) : fd_(std::move(fd)) {}
  net::Fd fd_;
  std::uint16_t family_ = 0;
  std::uint32_t sequence_ = 0;
};

void put_endpoint(NetlinkMessages& request, const net::SocketAddress& endpoint) {
  if (endpoint.address.is_v4()) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(endpoint.port);
    std::memcpy(&to.sin_addr, endpoint.address.bytes.data() + vip::kV4At, sizeof to.sin_addr);
    request.attribute(WGPEER_A_ENDPOINT, &to, sizeof to);
    return;
  }
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(endpoint.port);
  std::memcpy(&to.sin6_addr, endpoint.address.bytes.data(), sizeof to.sin6_addr);
  request.attribute(WGPEER_A_ENDPOINT, &to, sizeof to);
}

void put_allowed(NetlinkMessages& request, const Cidr& cidr) {
  request.nest(0, [&] {
    const bool v4 = cidr.address.is_v4();
    const std::uint16_t family = v4 ? AF_INET : AF_INET6;
    const auto length = static_cast<std::uint8_t>(v4 ? cidr.prefix_length - 96 : cidr.prefix_length);
    request.attribute(WGALLOWEDIP_A_FAMILY, &family, sizeof family);
    request.attribute(WGALLOWEDIP_A_IPADDR, cidr.address.bytes.data() + (v4 ? vip::kV4At : 0), v4 ? 4 : 16);
    request.attribute(WGALLOWEDIP_A_CIDR_MASK, &length, sizeof length);
  });
}

void read_endpoint_of(const char* bytes, std::size_t size, WireGuardState& state) {
  const auto family = vip::netlink_value<sa_family_t>(bytes, size);
  net::SocketAddress endpoint;
  if (family == AF_INET) {
    const auto from = vip::netlink_value<sockaddr_in>(bytes, size);
    endpoint.address.bytes[10] = endpoint.address.bytes[11] = 0xff;
    std::memcpy(endpoint.address.bytes.data() + vip::kV4At, &from.sin_addr, sizeof from.sin_addr);
    endpoint.port = ntohs(from.sin_port);
  } else {
    const auto from = vip::netlink_value<sockaddr_in6>(bytes, size);
    std::memcpy(endpoint.address.bytes.data(), &from.sin6_addr, sizeof from.sin6_addr);
    endpoint.port = ntohs(from.sin6_port);
  }
  state.endpoint = endpoint;
}

void read_peer(const char* peer, std::size_t size, WireGuardState& state) {
  vip::netlink_attributes(peer, size, [&](std::uint16_t type, const char* bytes, std::size_t length) {
    if (type == WGPEER_A_ENDPOINT) read_endpoint_of(bytes, length, state);
    if (type == WGPEER_A_LAST_HANDSHAKE_TIME) {
      const auto seconds = vip::netlink_value<std::int64_t>(bytes, length);
      if (seconds > 0) state.handshake = std::chrono::seconds(seconds);
    }
    if (type == WGPEER_A_RX_BYTES) state.received = vip::netlink_value<std::uint64_t>(bytes, length);
    if (type == WGPEER_A_TX_BYTES) state.sent = vip::netlink_value<std::uint64_t>(bytes, length);
  });
}

/// Allowed networks that fit into one attribute of 64 KiB; more come in further messages, which add to them.
constexpr std::size_t kAllowedAMessage = 1000;

}  // namespace

Status set_kernel_wireguard(const std::string& link, const WireGuardSettings& settings,
                            const std::optional<net::SocketAddress>& endpoint) {
  auto generic = Generic::open();
  if (!generic) return generic.error();
  for (std::size_t from = 0; from == 0 || from < settings.allowed.size(); from += kAllowedAMessage) {
    NetlinkMessages request;
    generic->begin(request, NLM_F_ACK, WG_CMD_SET_DEVICE);
    request.text(WGDEVICE_A_IFNAME, link);
    if (from == 0) {
      request.attribute(WGDEVICE_A_PRIVATE_KEY, settings.private_key.data(), settings.private_key.size());
      request.attribute(WGDEVICE_A_LISTEN_PORT, &settings.port, sizeof settings.port);
      request.attribute(WGDEVICE_A_FWMARK, &settings.mark, sizeof settings.mark);
    }
    request.nest(WGDEVICE_A_PEERS, [&] {
      request.nest(0, [&] {
        const std::uint32_t flags = from == 0 ? WGPEER_F_REPLACE_ALLOWEDIPS : WGPEER_F_UPDATE_ONLY;
        request.attribute(WGPEER_A_PUBLIC_KEY, settings.peer_key.data(), settings.peer_key.size());
        request.attribute(WGPEER_A_FLAGS, &flags, sizeof flags);
        if (from == 0 && endpoint) put_endpoint(request, *endpoint);
        if (from == 0) {
          request.attribute(WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, &settings.keepalive, sizeof settings.keepalive);
        }
        request.nest(WGPEER_A_ALLOWEDIPS, [&] {
          const std::size_t end = std::min(from + kAllowedAMessage, settings.allowed.size());
          for (std::size_t i = from; i < end; ++i) put_allowed(request, settings.allowed[i]);
        });
      });
    });
    if (Status status = generic->ask(request.finish(), [](const char*, std::size_t) {}); !status) return status;
  }
  return {};
}

Status set_kernel_endpoint(const std::string& link, const WireGuardKey& peer, const net::SocketAddress& endpoint) {
  auto generic = Generic::open();
  if (!generic) return generic.error();
  NetlinkMessages request;
  generic->begin(request, NLM_F_ACK, WG_CMD_SET_DEVICE);
  request.text(WGDEVICE_A_IFNAME, link);
  request.nest(WGDEVICE_A_PEERS, [&] {
    request.nest(0, [&] {
      const std::uint32_t flags = WGPEER_F_UPDATE_ONLY;
      request.attribute(WGPEER_A_PUBLIC_KEY, peer.data(), peer.size());
      request.attribute(WGPEER_A_FLAGS, &flags, sizeof flags);
      put_endpoint(request, endpoint);
    });
  });
  return generic->ask(request.finish(), [](const char*, std::size_t) {});
}

Result<WireGuardState> kernel_wireguard(const std::string& link) {
  auto generic = Generic::open();
  if (!generic) return generic.error();
  NetlinkMessages request;
  generic->begin(request, NLM_F_DUMP, WG_CMD_GET_DEVICE);
  request.text(WGDEVICE_A_IFNAME, link);
  WireGuardState state;
  const Status status = generic->ask(request.finish(), [&](const char* body, std::size_t size) {
    vip::netlink_attributes(body, size, [&](std::uint16_t type, const char* peers, std::size_t length) {
      if (type != WGDEVICE_A_PEERS) return;
      vip::netlink_attributes(peers, length, [&](std::uint16_t, const char* peer, std::size_t peer_size) {
        read_peer(peer, peer_size, state);
      });
    });
  });
  if (!status) return status.error();
  return state;
}

}  // namespace edge::agent::wan
