// The relay does what it says to datagrams between two sites.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/ip.h"
#include "net/socket.h"
#include "tests/net/wan_net.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;

struct Traffic {
  unsigned packets = 1;
  std::chrono::milliseconds between{0};
  std::size_t octets = 100;                  ///< on the wire, without Ethernet's header; IPv4
  std::chrono::milliseconds patience{5000};  ///< for the next answer, after the last was sent
};

class WanRelayTest : public WanNet {
 protected:
  void SetUp() override {
    WanNet::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(uplink("a", "fibre", 1));
    ASSERT_NO_FATAL_FAILURE(uplink("a", "mobile", 2));
    ASSERT_NO_FATAL_FAILURE(uplink("b", "fibre", 3));
    ASSERT_NO_FATAL_FAILURE(start_relay());
    ASSERT_NO_FATAL_FAILURE(start_echo());
  }

  void TearDown() override {
    stops_ = true;
    if (echo_.joinable()) echo_.join();
    WanNet::TearDown();
  }

  /// Answers datagrams at b.
  void start_echo() {
    net::Fd fd;
    in("b", [&] {
      auto opened = net::listen_udp(std::nullopt, kEcho);
      ASSERT_TRUE(opened) << opened.error().text;
      fd = std::move(*opened);
    });
    echo_ = std::thread([this, owned = std::move(fd)] {
      std::array<char, 2048> datagram{};
      sockaddr_in6 from{};
      while (!stops_) {
        pollfd polled{.fd = owned.get(), .events = POLLIN, .revents = 0};
        ::poll(&polled, 1, 50);
        socklen_t length = sizeof from;
        auto* const address = reinterpret_cast<sockaddr*>(&from);
        const ssize_t size = ::recvfrom(owned.get(), datagram.data(), datagram.size(), 0, address, &length);
        if (size > 0) ::sendto(owned.get(), datagram.data(), static_cast<std::size_t>(size), 0, address, length);
      }
    });
  }

  /// Sends from an address of `a` to one of `b`. \returns how many answers came.
  static unsigned exchange(const std::string& from, const std::string& to, Traffic traffic = {}) {
    unsigned answers = 0;
    in("a", [&] {
      const net::Fd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      const int whole = IP_PMTUDISC_PROBE;
      ::setsockopt(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
      const sockaddr_in6 own = socket_address(from, 0);
      const sockaddr_in6 peer = socket_address(to, kEcho);
      ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
      ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer), 0);
      std::vector<char> datagram(traffic.octets - 28, 'x');
      const auto take = [&](int patience) {
        pollfd polled{.fd = fd.get(), .events = POLLIN, .revents = 0};
        if (::poll(&polled, 1, patience) <= 0 || ::recv(fd.get(), datagram.data(), datagram.size(), 0) <= 0)
          return false;
        return ++answers, true;
      };
      for (unsigned i = 0; i < traffic.packets; ++i) {
        EXPECT_GT(::send(fd.get(), datagram.data(), datagram.size(), 0), 0);
        const auto next = std::chrono::steady_clock::now() + traffic.between;
        for (auto now = next; (now = std::chrono::steady_clock::now()) < next;) {
          take(static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count()));
        }
      }
      while (answers < traffic.packets && take(static_cast<int>(traffic.patience.count()))) {
      }
    });
    return answers;
  }

 private:
  static constexpr std::uint16_t kEcho = 7007;

  static sockaddr_in6 socket_address(const std::string& text, std::uint16_t port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    const IpAddress ip = *parse_ip(text);
    std::copy(ip.bytes.begin(), ip.bytes.end(), address.sin6_addr.s6_addr);
    return address;
  }

  std::atomic<bool> stops_ = false;
  std::thread echo_;
};

TEST_F(WanRelayTest, EachUplinkIsAWayOfItsOwn) {
  EXPECT_EQ(exchange(address(1), address(3)), 1U);
  EXPECT_EQ(exchange(address(2), address(3)), 1U);
  EXPECT_TRUE(!has_v6_ || exchange(address6(2), address6(3)) == 1U);
  const std::uint64_t each = has_v6_ ? 2 : 1;
  EXPECT_EQ(relay().figures("a/fibre", Way::kUp).forwarded, 1U);
  EXPECT_EQ(relay().figures("a/mobile", Way::kUp).forwarded, each);
  EXPECT_EQ(relay().figures("a/mobile", Way::kDown).forwarded, each);
  EXPECT_EQ(relay().figures("b/fibre", Way::kDown).forwarded, 1 + each);
}

TEST_F(WanRelayTest, DelayAndJitterAreOfTheirDirection) {
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.delay = 40ms, .jitter = 10ms}));
  ASSERT_TRUE(relay().set("a/fibre", Way::kDown, {.delay = 5ms}));
  EXPECT_EQ(exchange(address(1), address(3), {.packets = 200, .between = 25ms}), 200U);
  const WanFigures up = relay().figures("a/fibre", Way::kUp);
  const WanFigures down = relay().figures("a/fibre", Way::kDown);
  EXPECT_GE(up.delay, 35ms);
  EXPECT_GE(down.delay, 5ms);
  EXPECT_LT(down.delay, up.delay);
  EXPECT_GE(up.jitter, 3ms);
  EXPECT_LT(down.jitter, up.jitter);
}

TEST_F(WanRelayTest, TheSameSeedLosesTheSamePackets) {
  constexpr WanPath kLossy{.loss = 0.2};
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, kLossy));
  constexpr Traffic kMany{.packets = 300, .between = 1ms, .patience = 1000ms};
  const unsigned answers = exchange(address(1), address(3), kMany);
  const WanFigures first = relay().figures("a/fibre", Way::kUp);
  EXPECT_EQ(first.arrived, 300U);
  EXPECT_NEAR(static_cast<double>(first.lost), 60, 30);
  EXPECT_EQ(answers, first.forwarded);
  ASSERT_NO_FATAL_FAILURE(start_relay());
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, kLossy));
  EXPECT_EQ(exchange(address(1), address(3), kMany), answers);
}

TEST_F(WanRelayTest, LossesComeInARow) {
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.loss = 0.1, .burst = 8}));
  exchange(address(1), address(3), {.packets = 1000, .between = 1ms, .patience = 1000ms});
  const WanFigures up = relay().figures("a/fibre", Way::kUp);
  EXPECT_EQ(up.arrived, 1000U);
  EXPECT_GT(up.lost, 20U);
  EXPECT_LT(up.lost, 300U);
}

TEST_F(WanRelayTest, ABlackholeAndAShortMtuSayNothing) {
  constexpr auto kShort = 500ms;
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.blackhole = true}));
  EXPECT_EQ(exchange(address(1), address(3), {.patience = kShort}), 0U);
  EXPECT_EQ(relay().figures("a/fibre", Way::kUp).swallowed, 1U);
  EXPECT_EQ(exchange(address(2), address(3)), 1U);
  ASSERT_TRUE(relay().set("a/fibre", {.mtu = 1400}));
  EXPECT_EQ(exchange(address(1), address(3), {.octets = 1400}), 1U);
  EXPECT_EQ(exchange(address(1), address(3), {.octets = 1401, .patience = kShort}), 0U);
  EXPECT_EQ(relay().figures("a/fibre", Way::kUp).too_long, 1U);
  EXPECT_FALSE(relay().set("a/dsl", {}));
}

TEST_F(WanRelayTest, ARateMakesPacketsWaitAndDropsWhatWouldWaitTooLong) {
  // A frame takes 10 ms.
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.rate = 1'000'000, .queue = 50ms}));
  exchange(address(1), address(3), {.packets = 50, .octets = 1236, .patience = 1000ms});
  const WanFigures up = relay().figures("a/fibre", Way::kUp);
  EXPECT_GE(up.forwarded, 5U);
  EXPECT_GE(up.overflowed, 1U);
  EXPECT_EQ(up.forwarded + up.overflowed, up.arrived);
  EXPECT_GE(up.delay, 10ms);
}

TEST(WanPathText, IsRead) {
  const auto path = parse_wan_path("delay=40ms jitter=500us loss=0.5% burst=4 rate=10mbit queue=1s mtu=1400");
  ASSERT_TRUE(path) << path.error().text;
  EXPECT_EQ(path->delay, 40ms);
  EXPECT_EQ(path->jitter, 500us);
  EXPECT_DOUBLE_EQ(path->loss, 0.005);
  EXPECT_EQ(path->burst, 4);
  EXPECT_EQ(path->rate, 10'000'000U);
  EXPECT_EQ(path->queue, 1s);
  EXPECT_EQ(path->mtu, 1400U);
  EXPECT_FALSE(path->blackhole);
  EXPECT_TRUE(parse_wan_path("blackhole")->blackhole);
  for (const char* const wrong :
       {"loss=100%", "loss=0.5", "delay=4", "burst=0", "speed=1", "delay=-1ms", "rate=fast"}) {
    EXPECT_FALSE(parse_wan_path(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace edge::test
