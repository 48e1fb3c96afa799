// Notifies a service manager by the protocol of sd_notify(3), a datagram of lines to a Unix socket, which is declared
// stable. Without systemd nothing is sent.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/log.h"
#include "net/socket.h"

namespace edge::daemon {

/// Threads: any.
class Notify {
 public:
  /// From NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of the environment.
  static Notify of_environment();
  /// `socket`: a path, or an abstract name after `@`; empty: nothing is sent.
  explicit Notify(std::string socket, std::optional<std::chrono::microseconds> watchdog = std::nullopt)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  void ready(std::string_view status);
  void status(std::string_view status) const;
  void stopping(std::string_view status) const;
  /// `ready` makes this process, which another one started (background.h), the main process of the unit, and then tells
  /// whoever waits for `served`. Call it before `ready`.
  void become_main(net::Fd served);
  /// Nothing more is sent: another process is the main one of the unit, and speaks for it.
  void leave() { left_ = true; }
  void alive() const;
  /// Returns the service manager's watchdog interval; nullopt: none.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  void send(const std::string& message) const;
  std::atomic<bool> left_ = false;
  net::Fd served_;  ///< not open: this process is the main one already
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

/// Sends watchdog notifications to the service manager, only while the working threads respond.
class Watchdog {
 public:
  /// Returns whether all of them respond within `patience`. Called on the watchdog's thread.
  using Probe = std::function<bool(std::chrono::nanoseconds patience)>;

  /// Does nothing without a watchdog of the service manager. `notify` must outlive this object.
  Watchdog(const Notify& notify, Probe probe, Logger log);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run(std::chrono::microseconds limit);

  const Notify& notify_;
  const Probe probe_;
  const Logger log_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;  ///< guarded by the mutex
  std::thread thread_;
};

}  // namespace edge::daemon
