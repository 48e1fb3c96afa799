#include "daemon/notify.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::daemon {
namespace {

using std::chrono::milliseconds;

/// As systemd's end: a datagram socket with an abstract name.
class FakeManager {
 public:
  FakeManager() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    name_ = "@edge-notify-test-" + std::to_string(::getpid()) + "-" + std::to_string(fd_);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~FakeManager() { ::close(fd_); }

  std::string next() {
    char buffer[1024];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    return got < 0 ? "nothing came" : std::string(buffer, static_cast<std::size_t>(got));
  }
  bool silent() {
    char byte;
    return ::recv(fd_, &byte, 1, MSG_DONTWAIT) < 0;
  }
  const std::string& name() const { return name_; }

 private:
  int fd_;
  std::string name_;
};

TEST(Notify, SpeaksTheProtocol) {
  FakeManager manager;
  Notify notify(manager.name());
  notify.ready("serves\nEXTEND_TIMEOUT_USEC=1");
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=serves EXTEND_TIMEOUT_USEC=1");
  notify.status("x");
  EXPECT_EQ(manager.next(), "STATUS=x");
  notify.stopping("drains");
  EXPECT_EQ(manager.next(), "STOPPING=1\nSTATUS=drains");
  notify.alive();
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

TEST(Notify, MakesWhoTakesOverTheMainProcess) {
  FakeManager manager;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const net::Fd reader(ends[0]);
  Notify notify(manager.name());
  notify.become_main(net::Fd(ends[1]));
  EXPECT_EQ(notify.watchdog(), std::chrono::seconds(30));
  char byte = 0;
  EXPECT_LT(::read(reader.get(), &byte, 1), 0) << "nobody waits for less than its being ready";
  notify.ready("serves");
  EXPECT_EQ(manager.next(),
            "READY=1\nSTATUS=serves\nMAINPID=" + std::to_string(::getpid()) + "\nWATCHDOG_USEC=30000000");
  EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
  notify.ready("serves on");
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=serves on");
}

TEST(Notify, SaysNothingOnceAnotherProcessIsTheMainOne) {
  FakeManager manager;
  Notify notify(manager.name());
  notify.leave();
  notify.stopping("drains");
  notify.alive();
  EXPECT_TRUE(manager.silent());
}

TEST(Notify, IsSilentWithoutAManager) {
  Notify("").ready("x");
  Notify("@edge-nobody-is-there").ready("x");
  Notify(std::string(200, 'a')).ready("x");
}

TEST(Notify, TakesTheWatchdogThatIsMeantForThisProcess) {
  ::setenv("NOTIFY_SOCKET", "@x", 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(Notify::of_environment().watchdog(), std::chrono::seconds(3));
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(Notify::of_environment().watchdog());
  ::unsetenv("WATCHDOG_PID");
  EXPECT_TRUE(Notify::of_environment().watchdog());
  ::setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_FALSE(Notify::of_environment().watchdog());
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(Watchdog, GivesSignsOfLifeOnlyWhileTheWorkersAnswer) {
  FakeManager manager;
  const Notify notify(manager.name(), milliseconds(40));
  std::atomic<bool> answers = true;
  std::atomic<int> asked = 0;
  const Watchdog watchdog(
      notify,
      [&](std::chrono::nanoseconds) {
        ++asked;
        return answers.load();
      },
      Logger());
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  answers = false;
  // The question that was under way may still have been answered.
  const int then = asked;
  while (asked < then + 2) std::this_thread::yield();
  while (!manager.silent()) {
  }
  const int later = asked;
  while (asked < later + 3) std::this_thread::yield();
  EXPECT_TRUE(manager.silent());
  answers = true;
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

}  // namespace
}  // namespace edge::daemon
