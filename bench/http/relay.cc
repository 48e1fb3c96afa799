// The kernel's floor: `http_relay PORT BACKEND_PORT` moves bytes between each client and an upstream connection of its
// own, and looks at none of them. What a proxy costs beyond this is its own work.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <unistd.h>

#include "bench/http/epoll_loop.h"

namespace edge::bench {
namespace {

struct Pair;
/// One end of a pair: bytes received here go out at the other end.
struct End {
  Pair* pair = nullptr;
  int fd = -1;
  std::vector<char> held;  ///< received, not yet taken by the other end
  std::uint32_t interest = EPOLLIN;
};
struct Pair {
  End client;
  End upstream;
  bool closed = false;
};

class Relay {
 public:
  Relay(int port, int backend) : listener_(listen_on(static_cast<std::uint16_t>(port))), backend_(backend) {
    epoll_.add(listener_, EPOLLIN, nullptr);
  }

  [[noreturn]] void run() {
    epoll_.run([this](void* tag, std::uint32_t events) { on_event(static_cast<End*>(tag), events); },
               [this] {
                 for (const Pair* gone : closed_) delete gone;
                 closed_.clear();
               });
  }

 private:
  void on_event(End* end, std::uint32_t events) {
    if (end == nullptr) return accept_all();
    Pair& pair = *end->pair;
    if (pair.closed) return;
    End& other = end == &pair.client ? pair.upstream : pair.client;
    bool alive = true;
    if ((events & EPOLLOUT) != 0) alive = push(other, *end);
    if (alive && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) alive = receive(*end, other);
    if (alive) return;
    close(pair.client.fd);
    close(pair.upstream.fd);
    pair.closed = true;
    closed_.push_back(&pair);
  }

  void accept_all() {
    for (int fd = accept_from(listener_); fd >= 0; fd = accept_from(listener_)) {
      auto* pair = new Pair;
      pair->client = {pair, fd, {}, EPOLLIN};
      pair->upstream = {pair, connect_to(static_cast<std::uint16_t>(backend_)), {}, EPOLLIN};
      epoll_.add(pair->upstream.fd, EPOLLIN, &pair->upstream);
      epoll_.add(fd, EPOLLIN, &pair->client);
    }
  }

  void want(End& end, std::uint32_t interest) {
    if (end.interest == interest) return;
    end.interest = interest;
    epoll_.change(end.fd, interest, &end);
  }

  /// Each end is read while nothing of it is held, and waited for while the other end's bytes are.
  void settle(Pair& pair) {
    const bool client_held = !pair.client.held.empty();
    const bool upstream_held = !pair.upstream.held.empty();
    want(pair.client, (client_held ? 0U : EPOLLIN) | (upstream_held ? EPOLLOUT : 0U));
    want(pair.upstream, (upstream_held ? 0U : EPOLLIN) | (client_held ? EPOLLOUT : 0U));
  }

  bool receive(End& from, End& to) {
    if (!from.held.empty()) return true;
    const ssize_t size = recv(from.fd, buffer_, sizeof(buffer_), 0);
    if (size <= 0) return size < 0 && errno == EAGAIN;
    ssize_t sent = send(to.fd, buffer_, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != ENOTCONN) return false;
    if (sent < 0) sent = 0;
    if (sent == size) return true;
    from.held.assign(buffer_ + sent, buffer_ + size);
    settle(*from.pair);
    return true;
  }

  /// Sends what `from` holds to `to`, which can take bytes again.
  bool push(End& from, End& to) {
    if (!from.held.empty()) {
      const ssize_t sent = send(to.fd, from.held.data(), from.held.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      from.held.erase(from.held.begin(), from.held.begin() + sent);
    }
    settle(*from.pair);
    return true;
  }

  Epoll epoll_;
  int listener_;
  int backend_;
  std::vector<const Pair*> closed_;
  char buffer_[256 * 1024];
};

}  // namespace
}  // namespace edge::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: http_relay PORT BACKEND_PORT\n");
    return 2;
  }
  static edge::bench::Relay relay(std::atoi(argv[1]), std::atoi(argv[2]));
  relay.run();
}
