// What a service manager is told: the protocol of sd_notify(3), which is a datagram of lines to a Unix socket and is
// declared stable. Without systemd nothing is sent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/log.h"

namespace edge::daemon {

/// From any thread.
class Notify {
 public:
  /// By NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of the environment.
  static Notify of_environment();
  /// `socket`: a path, or an abstract name behind `@`; empty: nobody is told.
  explicit Notify(std::string socket, std::optional<std::chrono::microseconds> watchdog = std::nullopt)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  void ready(std::string_view status) const;
  void status(std::string_view status) const;
  void stopping(std::string_view status) const;
  void alive() const;
  /// How long the service manager waits for a sign of life; nullopt: it does not.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  void send(const std::string& message) const;
  std::string socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

/// Signs of life for the service manager, given only while those who do the work answer.
class Watchdog {
 public:
  /// Whether they all answer within `patience`. Called on the watchdog's thread.
  using Probe = std::function<bool(std::chrono::nanoseconds patience)>;

  /// Without a watchdog of the service manager it does nothing. `notify` must outlive it.
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
  bool ending_ = false;  ///< under the mutex
  std::thread thread_;
};

}  // namespace edge::daemon
