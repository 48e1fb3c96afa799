// Ports for servers that a test stops and starts again.
#pragma once

#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace edge::test {

/// Keeps a port from other tests until this process ends; ports.py takes the same locks. False: another has it.
inline bool reserve_port(std::uint16_t port) {
  const char* const temporary = std::getenv("TMPDIR");
  const std::string folder = std::string(temporary != nullptr ? temporary : "/tmp") + "/edge-test-ports";
  ::mkdir(folder.c_str(), 0777);
  const int lock = ::open((folder + "/" + std::to_string(port)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
  if (lock >= 0) ::close(lock);
  return false;
}

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
    if (free && reserve_port(port)) return port;
  }
  return 0;
}

}  // namespace edge::test
