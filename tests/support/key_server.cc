#include "tests/support/key_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

#include <poll.h>
#include <unistd.h>

namespace edge::test {

KeyServer::KeyServer() : deadline_{std::chrono::steady_clock::now() + std::chrono::seconds(60), &over_} {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener_, 16);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

KeyServer::~KeyServer() {
  over_ = true;
  release();
  thread_.join();
  ::close(listener_);
}

void KeyServer::answer(std::string body, int status) {
  const std::scoped_lock lock(mutex_);
  body_ = std::move(body);
  status_ = status;
}

void KeyServer::hold() {
  const std::scoped_lock lock(mutex_);
  held_ = true;
}

void KeyServer::release() {
  const std::scoped_lock lock(mutex_);
  held_ = false;
  changed_.notify_all();
}

void KeyServer::serve() {
  while (!over_ && wait_for(listener_, POLLIN, deadline_)) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    Connection connection(fd, deadline_);
    if (!connection.receive_head()) continue;
    ++requests_;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !held_; });
    (void)connection.send("HTTP/1.1 " + std::to_string(status_) + " x\r\nConnection: close\r\nContent-Length: " +
                          std::to_string(body_.size()) + "\r\n\r\n" + body_);
  }
}

}  // namespace edge::test
