#include "bench/http/epoll_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace edge::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

int listen_on(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in address = loopback(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail("bind");
  if (listen(fd, 4096) != 0) fail("listen");
  return fd;
}

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const sockaddr_in address = loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 && errno != EINPROGRESS) {
    fail("connect");
  }
  return fd;
}

int accept_from(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  const int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

Epoll::Epoll() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}

void Epoll::add(int fd, std::uint32_t events, void* tag) {
  epoll_event event{events, {tag}};
  if (epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

void Epoll::change(int fd, std::uint32_t events, void* tag) {
  epoll_event event{events, {tag}};
  if (epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event) != 0) fail("epoll_ctl");
}

void Epoll::run(const std::function<void(void*, std::uint32_t)>& on_event, const std::function<void()>& batch_end) {
  epoll_event events[256];
  for (;;) {
    const int count = epoll_wait(fd_, events, 256, -1);
    for (int i = 0; i < count; ++i) on_event(events[i].data.ptr, events[i].events);
    batch_end();
  }
}

}  // namespace edge::bench
