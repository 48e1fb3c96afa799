// Who answers ARP and NDP for an address while networks are divided, clocks jump and processes stand still. Each holder
// is a process of its own; a listener on the bridge asks for the addresses and notes who answers.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/ethernet.h>
#include <poll.h>
#include <unistd.h>

#include "agent/vip/holder.h"
#include "agent/vip/neighbours.h"
#include "agent/vip/netlink.h"
#include "net/socket.h"
#include "tests/net/vip_bridge.h"

namespace {

std::atomic<time_t> wall_offset = 0;  ///< seconds that clocks of this process are ahead
std::atomic<time_t> boot_offset = 0;

}  // namespace

/// In place of that of the C library, for this program and the libraries that it uses.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += wall_offset;
  if (result == 0 && clock == CLOCK_BOOTTIME) time->tv_sec += boot_offset;
  return result;
}

namespace edge::agent::vip {
namespace {

using Mac = std::array<std::uint8_t, 6>;
using Clock = std::chrono::steady_clock;

constexpr time_t kHour = 3600;
constexpr auto kRound = std::chrono::milliseconds(50);
/// Of two answers, for as long as both come: three times the lifetime of an address, so that a machine that is busy is
/// no fault. One that two nodes go on to hold is answered for without an end.
constexpr auto kMost = 3 * std::chrono::seconds(Netlink::kLifetime);

void ask_arp(int fd, const Link& link, const IpAddress& address) {
  std::array<std::uint8_t, 28> packet{0, 1, 0x08, 0, 6, 4, 0, 1};
  std::copy(link.mac.begin(), link.mac.end(), packet.begin() + 8);
  const std::uint8_t own[] = {192, 0, 2, 4};
  std::copy(std::begin(own), std::end(own), packet.begin() + 14);
  std::copy(address.bytes.end() - 4, address.bytes.end(), packet.begin() + 24);
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_protocol = htons(ETH_P_ARP);
  to.sll_ifindex = link.index;
  to.sll_halen = ETH_ALEN;
  std::fill_n(to.sll_addr, ETH_ALEN, std::uint8_t{0xff});
  ::sendto(fd, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

void ask_neighbour(int fd, const Link& link, const IpAddress& address) {
  std::array<std::uint8_t, 32> packet{ND_NEIGHBOR_SOLICIT};
  std::copy(address.bytes.begin(), address.bytes.end(), packet.begin() + 8);
  packet[24] = packet[25] = 1;  // the asker's link-layer address, 8 bytes
  std::copy(link.mac.begin(), link.mac.end(), packet.begin() + 26);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_scope_id = static_cast<std::uint32_t>(link.index);
  const std::uint8_t group[16] = {
      0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, address.bytes[13], address.bytes[14], address.bytes[15]};
  std::memcpy(&to.sin6_addr, group, sizeof group);
  ::sendto(fd, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

/// Asks for the addresses in rounds, and notes who answered in each.
class Listener {
 public:
  explicit Listener(std::vector<IpAddress> ips) : ips_(std::move(ips)) {}

  void run() {
    auto netlink = Netlink::open();
    auto neighbours = Neighbours::open();
    const net::Fd arp(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const net::Fd nd(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6));
    const int hops = 255;
    ::setsockopt(nd.get(), IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
    ::setsockopt(nd.get(), IPPROTO_IPV6, IPV6_UNICAST_HOPS, &hops, sizeof hops);
    if (!netlink || !neighbours || !arp.valid()) return;
    const Link link = *netlink->link("eth0");
    while (!stop_) {
      for (const IpAddress& ip : ips_) ip.is_v4() ? ask_arp(arp.get(), link, ip) : ask_neighbour(nd.get(), link, ip);
      std::map<IpAddress, std::set<Mac>> round;
      for (const auto end = Clock::now() + kRound; Clock::now() < end;) {
        std::array<pollfd, 2> polled{{{neighbours->arp(), POLLIN, 0}, {neighbours->advertisements(), POLLIN, 0}}};
        ::poll(polled.data(), polled.size(), 5);
        while (const auto claimed = neighbours->next()) round[claimed->address].insert(claimed->mac);
      }
      note(round);
    }
  }
  void stop() { stop_ = true; }

  std::size_t rounds() const {
    const std::lock_guard lock(mutex_);
    return rounds_;
  }
  /// The longest that answers of two nodes came without half a second of one alone.
  Clock::duration longest() const {
    const std::lock_guard lock(mutex_);
    return longest_;
  }
  std::size_t answers() const {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  struct Both {
    Clock::time_point first, last;
  };

  void note(const std::map<IpAddress, std::set<Mac>>& round) {
    const std::lock_guard lock(mutex_);
    ++rounds_;
    const auto now = Clock::now();
    for (const IpAddress& ip : ips_) {
      const auto found = round.find(ip);
      if (found == round.end()) continue;
      ++answers_;
      if (found->second.size() < 2) continue;
      Both& both = both_[ip];
      if (now - both.last > std::chrono::milliseconds(500)) both.first = now - kRound;
      both.last = now;
      longest_ = std::max(longest_, both.last - both.first);
    }
  }

  const std::vector<IpAddress> ips_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::size_t rounds_ = 0;
  std::size_t answers_ = 0;
  std::map<IpAddress, Both> both_;
  Clock::duration longest_{};
};

class VipAnswers : public VipBridge {
 protected:
  struct Process {
    pid_t pid = 0;
    net::Fd commands;
  };

  void SetUp() override {
    VipBridge::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* const name : kNodes) start(name);
    listener_ = std::make_unique<Listener>(ips());
    asking_ = std::thread([this] {
      if (enter("client")) listener_->run();
    });
    ASSERT_TRUE(await([this] { return each_has_one(); }));
    ASSERT_TRUE(await([this] { return listener_->answers() > 10; }));
  }

  void TearDown() override {
    if (listener_) listener_->stop();
    if (asking_.joinable()) asking_.join();
    for (auto& [name, process] : processes_) {
      ::kill(process.pid, SIGCONT);
      process.commands.reset();
      ::waitpid(process.pid, nullptr, 0);
    }
    VipBridge::TearDown();
  }

  void start(const std::string& name) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      ::close(ends[1]);
      // Of the processes before this one.
      for (auto& [other, process] : processes_) process.commands.reset();
      serve(name, ends[0]);
      ::_exit(0);
    }
    ::close(ends[0]);
    processes_[name] = {.pid = pid, .commands = net::Fd(ends[1])};
  }

  /// Of the child, until the test closes its end.
  void serve(const std::string& name, int commands) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!enter(name)) return;
    auto started = Holder::start(options(name));
    if (!started) return;
    (*started)->set_addresses(addresses());
    char command = 0;
    while (::read(commands, &command, 1) == 1) {
      if (command == 'f') wall_offset += kHour;
      if (command == 'b') wall_offset -= kHour;
      if (command == 's') boot_offset += kHour;
    }
  }

  void command(const std::string& name, char what) { ASSERT_EQ(::write(processes_[name].commands.get(), &what, 1), 1); }

  /// The one node that has an address; empty: none, or several.
  std::string holder(std::size_t which = 0) const {
    std::string found;
    for (const char* const name : kNodes) {
      if (!has_address(name, to_string(ips()[which]))) continue;
      if (!found.empty()) return {};
      found = name;
    }
    return found;
  }
  bool each_has_one() const {
    bool all = true;
    for (std::size_t i = 0; i < ips().size(); ++i) all = all && !holder(i).empty();
    return all;
  }
  /// Whether another node than `name` has an address.
  bool another_has(const std::string& name, std::size_t which) const {
    const std::string ip = to_string(ips()[which]);
    return std::ranges::any_of(kNodes, [&](const char* node) { return node != name && has_address(node, ip); });
  }

  void expect_one_answers() {
    const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(listener_->longest());
    RecordProperty("longest_ms", static_cast<int>(longest.count()));
    EXPECT_LE(listener_->longest(), kMost);
  }

  void hear_rounds(std::size_t count) {
    const std::size_t until = listener_->rounds() + count;
    ASSERT_TRUE(await([&] { return listener_->rounds() >= until; }));
  }

  std::map<std::string, Process> processes_;
  std::unique_ptr<Listener> listener_;
  std::thread asking_;
};

TEST_F(VipAnswers, OneNodeAnswersOnceADividedNetworkIsWhole) {
  for (std::size_t i = 0; i < ips().size(); ++i) {
    const std::string first = holder(i);
    ASSERT_TRUE(cable(first, "nomaster"));
    // Both sides hold it, and hear nothing of each other.
    ASSERT_TRUE(await([&] { return another_has(first, i); }));
    hear_rounds(20);
    ASSERT_TRUE(cable(first, "master bridge"));
    ASSERT_TRUE(await([this] { return each_has_one(); }));
    hear_rounds(60);
    EXPECT_TRUE(each_has_one());
  }
  expect_one_answers();
}

TEST_F(VipAnswers, ClocksThatJumpAnHourLeaveOneNodeAnswering) {
  for (const char what : {'f', 'b', 'b', 'f'}) {
    for (const char* const name : kNodes) command(name, what);
    hear_rounds(20);
  }
  // One of them alone, and as after an hour of sleep.
  for (const char what : {'f', 'b', 's'}) {
    ASSERT_TRUE(await([this] { return each_has_one(); }));
    command(holder(), what);
    hear_rounds(40);
  }
  ASSERT_TRUE(await([this] { return each_has_one(); }));
  hear_rounds(20);
  EXPECT_TRUE(each_has_one());
  expect_one_answers();
}

TEST_F(VipAnswers, AProcessThatWakesUpDoesNotAnswerBesideWhoTookOver) {
  for (std::size_t i = 0; i < ips().size(); ++i) {
    const std::string first = holder(i);
    ASSERT_EQ(::kill(processes_[first].pid, SIGSTOP), 0);
    ASSERT_TRUE(await([&] { return !holder(i).empty() && holder(i) != first; }));
    hear_rounds(20);
    ASSERT_EQ(::kill(processes_[first].pid, SIGCONT), 0);
    hear_rounds(60);
    // One that wakes up before its kernel has taken the address away.
    ASSERT_TRUE(await([this] { return each_has_one(); }));
    const std::string second = holder(i);
    ASSERT_EQ(::kill(processes_[second].pid, SIGSTOP), 0);
    ASSERT_TRUE(await([&] { return another_has(second, i); }));
    ASSERT_EQ(::kill(processes_[second].pid, SIGCONT), 0);
    ASSERT_TRUE(await([this] { return each_has_one(); }));
    hear_rounds(60);
    EXPECT_TRUE(each_has_one());
  }
  expect_one_answers();
}

}  // namespace
}  // namespace edge::agent::vip
