#include "tests/remote/slow_line.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace edge::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPiece = 16 << 10;
/// What may be on its way: beyond it the sender waits.
constexpr std::size_t kMostUnderWay = 4 << 20;
constexpr int kLookMilliseconds = 1;

sockaddr_in place_of(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// One way of one connection.
struct Direction {
  int from = -1;
  int to = -1;
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  std::deque<Piece> under_way{};
  std::size_t bytes = 0;
  bool ended = false;

  /// `free_at`: when the line has sent what came before, of all connections.
  void read(const LineQuality& quality, Clock::time_point& free_at, std::atomic<std::uint64_t>& count) {
    while (!ended && bytes < kMostUnderWay) {
      const auto now = Clock::now();
      // A sender sees a full queue, and not an endless one.
      if (free_at > now + std::chrono::milliseconds(100)) return;
      std::array<char, kPiece> piece;
      const ssize_t size = ::recv(from, piece.data(), piece.size(), MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) ended = true;
      if (size <= 0) return;
      count += static_cast<std::uint64_t>(size);
      free_at = std::max(free_at, now);
      if (quality.rate != 0) {
        free_at += std::chrono::nanoseconds(
            static_cast<std::int64_t>(8e9 * static_cast<double>(size) / static_cast<double>(quality.rate)));
      }
      under_way.push_back({free_at + quality.delay, std::string(piece.data(), static_cast<std::size_t>(size))});
      bytes += static_cast<std::size_t>(size);
    }
  }

  /// False: the other side takes nothing any more.
  bool write() {
    while (!under_way.empty() && under_way.front().due <= Clock::now()) {
      std::string& piece = under_way.front().bytes;
      const ssize_t sent = ::send(to, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      bytes -= static_cast<std::size_t>(sent);
      piece.erase(0, static_cast<std::size_t>(sent));
      if (piece.empty()) under_way.pop_front();
    }
    return true;
  }
};

struct Connection {
  Direction up, down;
  Connection(int client, int hub) : up{.from = client, .to = hub}, down{.from = hub, .to = client} {}
  ~Connection() {
    ::close(up.from);
    ::close(up.to);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  bool is_over() const { return (up.ended && up.under_way.empty()) || (down.ended && down.under_way.empty()); }
};

}  // namespace

SlowLine::SlowLine(std::uint16_t port, LineQuality quality)
    : to_(port), quality_(quality), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in address = place_of(0);
  socklen_t size = sizeof address;
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  ::listen(listener_, 64);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

SlowLine::~SlowLine() {
  ending_ = true;
  thread_.join();
  ::close(listener_);
}

void SlowLine::run() {
  std::vector<std::unique_ptr<Connection>> connections;
  Clock::time_point up_free{}, down_free{};
  while (!ending_) {
    std::vector<pollfd> watched = {{listener_, POLLIN, 0}};
    for (const auto& one : connections) {
      watched.push_back({one->up.from, POLLIN, 0});
      watched.push_back({one->up.to, POLLIN, 0});
    }
    ::poll(watched.data(), watched.size(), kLookMilliseconds);
    if (cut_) connections.clear();
    if (const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); client >= 0) {
      const int hub = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = place_of(to_);
      const int at_once = 1;
      ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      ::setsockopt(hub, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      const bool there = !cut_ && ::connect(hub, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
      auto made = std::make_unique<Connection>(client, hub);
      if (there) connections.push_back(std::move(made));
    }
    std::erase_if(connections, [&](const auto& one) {
      one->up.read(quality_, up_free, up_);
      one->down.read(quality_, down_free, down_);
      return !one->up.write() || !one->down.write() || one->is_over();
    });
  }
}

}  // namespace edge::test
