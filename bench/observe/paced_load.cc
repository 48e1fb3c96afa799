// Requests at a fixed rate, whatever becomes of those before them:
//
//   paced_load PORT RATE CONNECTIONS SECONDS ROUTES
//
// asks for /service-N/items of each of so many routes in turn, and prints one line of JSON. A request is timed from
// when it was due, so that a stall counts against all that it delays, not against the one that met it.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/text/ascii.h"
#include "bench/http/epoll_loop.h"

namespace edge::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// For what is still out when the last request was sent.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::string_view kOk = "HTTP/1.1 200 ";
constexpr std::string_view kLength = "content-length: ";

struct Connection {
  int fd = -1;
  bool busy = false;
  std::size_t request = 0;  ///< under way
  std::string input;
};

/// Bytes of a whole answer; 0: it is not whole yet.
std::size_t answer_size(std::string_view input) {
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  const std::string head = ascii_lower(input.substr(0, end + 2));
  std::size_t body = 0;
  if (const std::size_t at = head.find(kLength); at != std::string::npos) {
    std::from_chars(head.data() + at + kLength.size(), head.data() + head.size(), body);
  }
  const std::size_t whole = end + 4 + body;
  return whole <= input.size() ? whole : 0;
}

class PacedLoad {
 public:
  PacedLoad(std::uint16_t port, std::size_t rate, std::size_t connections, std::size_t seconds, std::size_t routes)
      : epoll_(epoll_create1(EPOLL_CLOEXEC)),
        pause_(nanoseconds(std::chrono::seconds(1)) / rate),
        total_(rate * seconds),
        routes_(routes),
        connections_(connections) {
    took_.reserve(total_);
    for (Connection& connection : connections_) {
      connection.fd = connect_to(port);
      epoll_event event{EPOLLIN, {&connection}};
      epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
      idle_.push_back(&connection);
    }
  }

  void run() {
    began_ = Clock::now() + std::chrono::milliseconds(10);
    const Clock::time_point end = due(total_) + kPatience;
    while (took_.size() + failed_ < total_) {
      const Clock::time_point now = Clock::now();
      if (now >= end || idle_.size() + busy_ == 0) break;
      while (sent_ < total_ && !idle_.empty() && due(sent_) <= now) send_next();
      // Where all are busy, an answer is what to wait for.
      const bool next_counts = sent_ < total_ && !idle_.empty();
      wait_until(next_counts ? std::min(due(sent_), end) : end);
    }
  }

  /// \returns whether all were answered.
  bool report() {
    const std::size_t failed = total_ - took_.size();
    std::ranges::sort(took_);
    const auto percentile = [&](double share) {
      return took_.empty()
                 ? 0.0
                 : static_cast<double>(
                       took_[static_cast<std::size_t>(share * (static_cast<double>(took_.size()) - 1))].count()) /
                       1000;
    };
    std::printf(R"({"answered":%zu,"failed":%zu,"p50_us":%.1f,"p90_us":%.1f,"p99_us":%.1f,"p999_us":%.1f})"
                "\n",
                took_.size(), failed, percentile(0.5), percentile(0.9), percentile(0.99), percentile(0.999));
    return failed == 0;
  }

 private:
  Clock::time_point due(std::size_t request) const { return began_ + pause_ * static_cast<nanoseconds::rep>(request); }

  void wait_until(Clock::time_point until) {
    const nanoseconds left = std::max(until - Clock::now(), nanoseconds(0));
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    epoll_event events[64];
    const int count = epoll_pwait2(epoll_, events, 64, &timeout, nullptr);
    for (int i = 0; i < count; ++i) receive(*static_cast<Connection*>(events[i].data.ptr));
  }

  void send_next() {
    Connection& connection = *idle_.back();
    idle_.pop_back();
    take_up(connection);
    connection.request = sent_++;
    const std::string request =
        "GET /service-" + std::to_string(connection.request % routes_) + "/items HTTP/1.1\r\nHost: example.com\r\n\r\n";
    const ssize_t size = send(connection.fd, request.data(), request.size(), MSG_NOSIGNAL);
    if (size != static_cast<ssize_t>(request.size())) lose(connection);
  }

  void receive(Connection& connection) {
    char buffer[16 * 1024];
    const ssize_t size = recv(connection.fd, buffer, sizeof(buffer), 0);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) return lose(connection);
    connection.input.append(buffer, static_cast<std::size_t>(size));
    const std::size_t whole = answer_size(connection.input);
    if (whole == 0) return;
    if (whole != connection.input.size() || !connection.input.starts_with(kOk)) {
      ++failed_;
    } else {
      took_.push_back(Clock::now() - due(connection.request));
    }
    connection.input.clear();
    connection.busy = false;
    --busy_;
    idle_.push_back(&connection);
  }

  void take_up(Connection& connection) {
    connection.busy = true;
    ++busy_;
  }

  /// It is asked no more.
  void lose(Connection& connection) {
    close(connection.fd);
    if (!connection.busy) {
      std::erase(idle_, &connection);
      return;
    }
    ++failed_;
    --busy_;
  }

  const int epoll_;
  const nanoseconds pause_;
  const std::size_t total_;
  const std::size_t routes_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;
  std::vector<nanoseconds> took_;
  Clock::time_point began_;
  std::size_t sent_ = 0;
  std::size_t busy_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace
}  // namespace edge::bench

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: paced_load PORT RATE CONNECTIONS SECONDS ROUTES\n");
    return 2;
  }
  const auto number = [&](int at) { return std::max<std::size_t>(1, std::strtoul(argv[at], nullptr, 10)); };
  edge::bench::PacedLoad load(static_cast<std::uint16_t>(number(1)), number(2), number(3), number(4), number(5));
  load.run();
  return load.report() ? 0 : 1;
}
