#include "tests/agents/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include <poll.h>
#include <unistd.h>

namespace edge::test {
namespace {

/// How soon a stall, or the end, is noticed.
constexpr int kLookMilliseconds = 5;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// False: one side has ended.
bool forward(int from, int to) {
  std::array<char, 65536> piece;
  const ssize_t size = ::recv(from, piece.data(), piece.size(), 0);
  for (ssize_t done = 0; done < size;) {
    const ssize_t sent = ::send(to, piece.data() + done, static_cast<std::size_t>(size - done), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += sent;
  }
  return size > 0;
}

}  // namespace

Relay::Relay(std::uint16_t port, std::uint16_t at)
    : to_(port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int again = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  sockaddr_in address = loopback(at);
  socklen_t size = sizeof address;
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener_, 16);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  ending_ = true;
  thread_.join();
  ::close(listener_);
}

void Relay::run() {
  using Pair = std::array<int, 2>;
  std::vector<Pair> pairs;
  while (!ending_) {
    std::vector<pollfd> watched = {{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs) {
      const short events = stalled_ ? 0 : POLLIN;
      watched.push_back({pair[0], events, 0});
      watched.push_back({pair[1], events, 0});
    }
    ::poll(watched.data(), watched.size(), kLookMilliseconds);
    std::vector<Pair> open;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      bool lives = true;
      for (std::size_t side = 0; side < 2 && lives && !stalled_; ++side) {
        if ((watched[1 + 2 * i + side].revents & ~POLLNVAL) == 0) continue;
        lives = forward(pairs[i][side], pairs[i][1 - side]);
      }
      if (lives) {
        open.push_back(pairs[i]);
      } else {
        for (const int end : pairs[i]) ::close(end);
      }
    }
    pairs = std::move(open);
    if ((watched[0].revents & POLLIN) == 0 || stalled_) continue;
    const int near = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(to_);
    ::connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    pairs.push_back({near, far});
  }
  for (const Pair& pair : pairs) {
    for (const int end : pair) ::close(end);
  }
}

}  // namespace edge::test
