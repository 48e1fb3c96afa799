#include "daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace edge::daemon {
namespace {

/// WatchdogSec= that the process sets for the unit which it takes over.
constexpr std::chrono::microseconds kWatchdogOfTaker = std::chrono::seconds(30);

std::optional<std::uint64_t> number_of(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, fault] = std::from_chars(text, end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// Of a status, one line.
std::string line_of(std::string_view status) {
  std::string line(status);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace

Notify Notify::of_environment() {
  const char* const socket = std::getenv("NOTIFY_SOCKET");
  std::optional<std::chrono::microseconds> watchdog;
  const auto limit = number_of("WATCHDOG_USEC");
  const auto whom = number_of("WATCHDOG_PID");
  // A child inherits the environment of a service, but not its duty.
  if (limit && *limit > 0 && (!whom || *whom == static_cast<std::uint64_t>(::getpid()))) {
    watchdog = std::chrono::microseconds(*limit);
  }
  return Notify(socket == nullptr ? "" : socket, watchdog);
}

void Notify::become_main(net::Fd served) {
  served_ = std::move(served);
  // The environment of a command that is not the main process does not name the unit's own limit.
  if (!watchdog_) watchdog_ = kWatchdogOfTaker;
}

void Notify::ready(std::string_view status) {
  std::string message = "READY=1\nSTATUS=" + line_of(status);
  if (served_.valid()) {
    message += "\nMAINPID=" + std::to_string(::getpid()) + "\nWATCHDOG_USEC=" + std::to_string(watchdog_->count());
  }
  send(message);
  // Sent before: systemd reads what it was sent before it sees the command end.
  // It may be gone: this process goes on.
  if (served_.valid() && ::write(served_.get(), "1", 1) == 1) served_.reset();
}
void Notify::status(std::string_view status) const { send("STATUS=" + line_of(status)); }
void Notify::stopping(std::string_view status) const { send("STOPPING=1\nSTATUS=" + line_of(status)); }
void Notify::alive() const { send("WATCHDOG=1"); }

void Notify::send(const std::string& message) const {
  sockaddr_un address{};
  if (left_) return;
  if (socket_.size() < 2 || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  // A service manager that does not read must not hold us.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(fd, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

Watchdog::Watchdog(const Notify& notify, Probe probe, Logger log)
    : notify_(notify), probe_(std::move(probe)), log_(std::move(log)) {
  if (const auto limit = notify_.watchdog()) thread_ = std::thread([this, limit] { run(*limit); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

// At least twice in the time that the service manager waits, as sd_watchdog_enabled(3) advises: a quarter of it is for
// the answer, a quarter lies between two.
void Watchdog::run(std::chrono::microseconds limit) {
  bool answered = true;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    const bool answers = probe_(limit / 4);
    if (answers) notify_.alive();
    if (answered && !answers)
      log_.error("a thread does not respond: the service manager is not sent its watchdog message");
    if (!answered && answers) log_.warn("all threads respond again");
    answered = answers;
    lock.lock();
    ended_.wait_for(lock, limit / 4, [this] { return ending_; });
  }
}

}  // namespace edge::daemon
