// The kernel's WireGuard by generic netlink (linux/wireguard.h).
#include <linux/genetlink.h>
#include <linux/wireguard.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "agent/wan/tunnel/wireguard.h"
#include "net/netlink/message.h"
#include "net/netlink/socket.h"

namespace edge::agent::wan {
namespace {

namespace netlink = net::netlink;

using netlink::Messages;
using netlink::value_of;

/// A request to the family of WireGuard, and its answer.
class Generic {
 public:
  static Result<Generic> open() {
    auto kernel = netlink::Socket::open(
        {.protocol = NETLINK_GENERIC, .what = "the kernel's WireGuard", .patience = std::chrono::seconds(2)});
    if (!kernel) return kernel.error();
    Generic generic(std::move(*kernel));
    Messages request;
    generic.begin(request, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
    request.text(CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME);
    const Status status = generic.ask(request.finish(), [&](const char* body, std::size_t size) {
      netlink::each_attribute(body, size, [&](std::uint16_t type, const char* bytes, std::size_t length) {
        if (type == CTRL_ATTR_FAMILY_ID) generic.family_ = value_of<std::uint16_t>(bytes, length);
      });
    });
    if (!status) return status.error();
    return generic;
  }

  void begin(Messages& request, std::uint16_t family, std::uint16_t flags, std::uint8_t command, std::uint8_t version) {
    request.begin(family, flags, kernel_.next());
    const genlmsghdr head{.cmd = command, .version = version, .reserved = 0};
    request.add(&head, sizeof head);
  }
  void begin(Messages& request, std::uint16_t flags, std::uint8_t command) {
    begin(request, family_, flags, command, WG_GENL_VERSION);
  }

  /// Each message's attributes go to `take(bytes, size)`.
  template <typename Take>
  Status ask(const std::vector<char>& request, Take take) {
    return kernel_.ask(request, [&](const nlmsghdr&, const char* body, std::size_t size) {
      if (size > GENL_HDRLEN) take(body + GENL_HDRLEN, size - GENL_HDRLEN);
    });
  }

 private:
  explicit Generic(netlink::Socket kernel) : kernel_(std::move(kernel)) {}
  netlink::Socket kernel_;
  std::uint16_t family_ = 0;
};

void put_endpoint(Messages& request, const net::SocketAddress& endpoint) {
  if (endpoint.address.is_v4()) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(endpoint.port);
    std::memcpy(&to.sin_addr, endpoint.address.bytes.data() + netlink::kV4At, sizeof to.sin_addr);
    request.attribute(WGPEER_A_ENDPOINT, &to, sizeof to);
    return;
  }
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(endpoint.port);
  std::memcpy(&to.sin6_addr, endpoint.address.bytes.data(), sizeof to.sin6_addr);
  request.attribute(WGPEER_A_ENDPOINT, &to, sizeof to);
}

void put_allowed(Messages& request, const Cidr& cidr) {
  request.nest(0, [&] {
    const bool v4 = cidr.address.is_v4();
    const std::uint16_t family = v4 ? AF_INET : AF_INET6;
    const auto length = static_cast<std::uint8_t>(v4 ? cidr.prefix_length - netlink::kMappedBits : cidr.prefix_length);
    request.attribute(WGALLOWEDIP_A_FAMILY, &family, sizeof family);
    request.address(WGALLOWEDIP_A_IPADDR, cidr.address);
    request.attribute(WGALLOWEDIP_A_CIDR_MASK, &length, sizeof length);
  });
}

void read_endpoint_of(const char* bytes, std::size_t size, WireGuardState& state) {
  const auto family = value_of<sa_family_t>(bytes, size);
  net::SocketAddress endpoint;
  if (family == AF_INET) {
    const auto from = value_of<sockaddr_in>(bytes, size);
    endpoint.address = netlink::address_of(&from.sin_addr, sizeof from.sin_addr);
    endpoint.port = ntohs(from.sin_port);
  } else {
    const auto from = value_of<sockaddr_in6>(bytes, size);
    endpoint.address = netlink::address_of(&from.sin6_addr, sizeof from.sin6_addr);
    endpoint.port = ntohs(from.sin6_port);
  }
  state.endpoint = endpoint;
}

void read_peer(const char* peer, std::size_t size, WireGuardState& state) {
  netlink::each_attribute(peer, size, [&](std::uint16_t type, const char* bytes, std::size_t length) {
    if (type == WGPEER_A_ENDPOINT) read_endpoint_of(bytes, length, state);
    if (type == WGPEER_A_LAST_HANDSHAKE_TIME) {
      const auto seconds = value_of<std::int64_t>(bytes, length);
      if (seconds > 0) state.handshake = std::chrono::seconds(seconds);
    }
    if (type == WGPEER_A_RX_BYTES) state.received = value_of<std::uint64_t>(bytes, length);
    if (type == WGPEER_A_TX_BYTES) state.sent = value_of<std::uint64_t>(bytes, length);
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
    Messages request;
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
  Messages request;
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
  Messages request;
  generic->begin(request, NLM_F_DUMP, WG_CMD_GET_DEVICE);
  request.text(WGDEVICE_A_IFNAME, link);
  WireGuardState state;
  const Status status = generic->ask(request.finish(), [&](const char* body, std::size_t size) {
    netlink::each_attribute(body, size, [&](std::uint16_t type, const char* peers, std::size_t length) {
      if (type != WGDEVICE_A_PEERS) return;
      netlink::each_attribute(peers, length, [&](std::uint16_t, const char* peer, std::size_t peer_size) {
        read_peer(peer, peer_size, state);
      });
    });
  });
  if (!status) return status.error();
  return state;
}

}  // namespace edge::agent::wan
