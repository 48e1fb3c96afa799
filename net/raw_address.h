// Addresses and options as the kernel has them. For the files that make system calls with them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "net/socket.h"

namespace edge::net {

inline void enable(int fd, int level, int option) {
  const int on = 1;
  ::setsockopt(fd, level, option, &on, sizeof on);
}

struct RawAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

inline RawAddress to_raw(const SocketAddress& from) {
  RawAddress raw;
  if (from.address.is_v4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&raw.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(from.port);
    std::memcpy(&v4->sin_addr, from.address.bytes.data() + 12, 4);
    raw.size = sizeof(sockaddr_in);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&raw.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(from.port);
    std::memcpy(&v6->sin6_addr, from.address.bytes.data(), 16);
    raw.size = sizeof(sockaddr_in6);
  }
  return raw;
}

inline SocketAddress from_raw(const RawAddress& raw) {
  SocketAddress result;
  if (raw.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&raw.storage);
    result.port = ntohs(v4->sin_port);
    result.address.bytes[10] = result.address.bytes[11] = 0xff;
    std::memcpy(result.address.bytes.data() + 12, &v4->sin_addr, 4);
  } else if (raw.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&raw.storage);
    result.port = ntohs(v6->sin6_port);
    std::memcpy(result.address.bytes.data(), &v6->sin6_addr, 16);
  }
  return result;
}

}  // namespace edge::net
