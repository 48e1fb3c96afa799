// The few lines that the benchmark's backend and relay share: a listener and an epoll set on one thread, no timers, no
// limits. Tools for a measurement, not servers for a network.
#pragma once

#include <cstdint>
#include <functional>

namespace edge::bench {

/// A non-blocking listener on 127.0.0.1:port. Ends the process with a message when the port is taken.
int listen_on(std::uint16_t port);
/// A non-blocking connection under way to 127.0.0.1:port.
int connect_to(std::uint16_t port);
/// The next waiting connection, non-blocking, TCP_NODELAY; -1 when there is none.
int accept_from(int listener);

class Epoll {
 public:
  Epoll();
  /// `tag` comes back with the event. Level-triggered.
  void add(int fd, std::uint32_t events, void* tag);
  void change(int fd, std::uint32_t events, void* tag);
  /// Never returns: waits, hands each event out, then calls `batch_end`.
  [[noreturn]] void run(const std::function<void(void* tag, std::uint32_t events)>& on_event,
                        const std::function<void()>& batch_end);

 private:
  int fd_;
};

}  // namespace edge::bench
