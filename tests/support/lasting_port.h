// Ports for servers that a test stops and starts again.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>

#include <unistd.h>

namespace edge::test {

/// A port of 127.0.0.1 that nobody listens on, below those that the kernel gives to connections (32768 to 60999): while
/// its server is away no connection takes it, not even the one of a client that keeps trying and meets itself. 0: there
/// is none.
inline std::uint16_t lasting_port() {
  constexpr std::uint32_t kFirst = 10'000;
  constexpr std::uint32_t kCount = 22'000;
  // Processes beside each other begin apart.
  static std::atomic<std::uint32_t> next = static_cast<std::uint32_t>(::getpid()) * 64;
  for (std::uint32_t tried = 0; tried < kCount; ++tried) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto port = static_cast<std::uint16_t>(kFirst + next++ % kCount);
    address.sin_port = htons(port);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool free = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    ::close(fd);
    if (free) return port;
  }
  return 0;
}

}  // namespace edge::test
