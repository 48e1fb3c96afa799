// Two sites whose agents measure each other through a relay: what they find is what the relay does.
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <poll.h>

#include "agent/wan/measurer.h"
#include "tests/net/wan_net.h"

namespace edge::agent::wan {
namespace {

using namespace std::chrono_literals;
using test::await;
using test::Way;

constexpr std::uint16_t kReflectorPort = 1862;

/// a has fibre (1) and mobile (2), b has fibre (3). The uplinks stand for tunnels, too.
class WanMeasureTest : public test::WanNet {
 protected:
  void SetUp() override {
    WanNet::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(uplink("a", "fibre", 1));
    ASSERT_NO_FATAL_FAILURE(uplink("a", "mobile", 2));
    ASSERT_NO_FATAL_FAILURE(uplink("b", "fibre", 3));
    ASSERT_NO_FATAL_FAILURE(start_relay());
    for (const char* const site : {"a", "b"}) {
      in(site, [&] {
        auto started = Measurer::start({});
        ASSERT_TRUE(started) << started.error().text;
        measurers_[site] = std::move(*started);
      });
    }
  }

  void TearDown() override {
    measurers_.clear();
    WanNet::TearDown();
  }

  static MeasuredTunnel tunnel(std::uint16_t number, const std::string& link, const std::string& peer_link, int own,
                               int peer) {
    const auto key = [](int one, int other) {
      return std::string(31, static_cast<char>('a' + one)) + std::to_string(other);
    };
    return {.link = link,
            .peer_site = "peer",
            .peer_link = peer_link,
            .interface = link,
            .peer_overlay = *parse_ip(address(peer)),
            .query_session = number,
            .query_key = key(own, peer),
            .answer_session = number,
            .answer_key = key(peer, own)};
  }

  /// Of a: by fibre to b, which answers.
  static Measured fibre(Time interval, std::uint32_t window) {
    Measured measured;
    measured.links = {{.id = "fibre", .interface = "fibre", .probe = {interval, 500ms, window}}};
    measured.tunnels = {tunnel(1, "fibre", "b-fibre", 1, 3)};
    measured.reflector_port = kReflectorPort;
    return measured;
  }

  /// Answers, and asks once in a while.
  static Measured answering(Time interval = 100ms) {
    Measured measured;
    measured.links = {{.id = "fibre", .interface = "fibre", .probe = {interval, 500ms, 1000}}};
    measured.tunnels = {tunnel(1, "fibre", "a-fibre", 3, 1), tunnel(2, "fibre", "a-mobile", 3, 2)};
    measured.reflector_port = kReflectorPort;
    return measured;
  }

  MeasuredState state(const std::string& site) const { return measurers_.at(site)->state(); }

  std::map<std::string, std::unique_ptr<Measurer>> measurers_;
};

TEST_F(WanMeasureTest, LatencyJitterAndLossAreThoseOfTheRelayEachWay) {
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.delay = 40ms, .jitter = 9ms, .loss = 0.02}));
  ASSERT_TRUE(relay().set("a/fibre", Way::kDown, {.delay = 10ms, .loss = 0.01}));
  constexpr std::uint32_t kWindow = 1500;
  // b answers and does not ask: the relay's figures are those of a's probes.
  measurers_["b"]->set(answering(std::chrono::hours(1)));
  measurers_["a"]->set(fibre(10ms, kWindow));
  ASSERT_TRUE(await([&] { return state("a").tunnels[0].quality.probes >= kWindow; }));
  const Quality found = state("a").tunnels[0].quality;
  const test::WanFigures up = relay().figures("a/fibre", Way::kUp);
  const test::WanFigures down = relay().figures("a/fibre", Way::kDown);
  EXPECT_NEAR(static_cast<double>(found.latency.count()), static_cast<double>((up.delay + down.delay).count()), 1e6);
  EXPECT_NEAR(static_cast<double>(found.forward_jitter.count()), static_cast<double>(up.jitter.count()),
              0.2 * static_cast<double>(up.jitter.count()));
  const auto share = [](const test::WanFigures& way) {
    return static_cast<double>(way.lost) / static_cast<double>(way.arrived);
  };
  ASSERT_TRUE(found.forward_loss && found.backward_loss);
  EXPECT_NEAR(*found.forward_loss, share(up), 0.003);
  EXPECT_NEAR(*found.backward_loss, share(down), 0.003);
  EXPECT_NEAR(found.loss, share(up) + share(down), 0.003);
  EXPECT_LE(found.loss_low, found.loss);
  EXPECT_GE(found.loss_high, found.loss);
}

TEST_F(WanMeasureTest, ABlackholeMovesAPolicyToTheOtherLinkAndBack) {
  Measured measured = fibre(20ms, 100);
  measured.links.push_back({.id = "mobile", .metered = true, .interface = "mobile", .probe = {20ms, 500ms, 100}});
  measured.tunnels.push_back(tunnel(2, "mobile", "b-fibre", 2, 3));
  measured.policies = {{.id = "all", .settings = {.after = 100ms, .back_after = 200ms}, .links = {"fibre", "mobile"}}};
  measurers_["b"]->set(answering());
  measurers_["a"]->set(measured);
  const auto chosen = [&](std::size_t tunnel) {
    const MeasuredState now = state("a");
    return !now.policies.empty() && now.policies[0].tunnels == std::vector<std::size_t>{tunnel};
  };
  ASSERT_TRUE(await([&] { return chosen(0); }));
  // The other link may have answered first.
  const std::uint64_t before = state("a").policies[0].moves;
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.blackhole = true}));
  ASSERT_TRUE(await([&] { return !state("a").tunnels[0].alive; }));
  EXPECT_EQ(state("a").tunnels[0].fault, Fault::kDead);
  EXPECT_TRUE(state("a").tunnels[1].alive);
  ASSERT_TRUE(await([&] { return chosen(1); }));
  EXPECT_EQ(state("a").policies[0].cause, Cause::kFault);
  EXPECT_EQ(state("a").policies[0].fault, Fault::kDead);
  EXPECT_EQ(state("a").policies[0].before, std::vector<std::size_t>{0});
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {}));
  ASSERT_TRUE(await([&] { return chosen(0); }));
  EXPECT_EQ(state("a").policies[0].moves, before + 2);
  // The same assignment again changes nothing.
  measurers_["a"]->set(measured);
  EXPECT_EQ(state("a").policies[0].moves, before + 2);
  EXPECT_TRUE(chosen(0));
}

TEST_F(WanMeasureTest, ALinkThatIsSlowIsAtFaultThoughItLives) {
  Measured measured = fibre(10ms, 100);
  measured.links[0].limits = {.latency = 20ms};
  measurers_["b"]->set(answering());
  measurers_["a"]->set(measured);
  ASSERT_TRUE(await([&] { return state("a").links[0].alive; }));
  EXPECT_EQ(state("a").links[0].fault, Fault::kNone);
  ASSERT_TRUE(relay().set("a/fibre", Way::kDown, {.delay = 60ms}));
  ASSERT_TRUE(await([&] { return state("a").links[0].fault == Fault::kLatency; }));
  EXPECT_TRUE(state("a").links[0].alive);
}

TEST_F(WanMeasureTest, ForgedRepeatedAndUnknownPacketsAreNotAnswered) {
  measurers_["b"]->set(answering());
  const auto answers = [&](const std::string& packet) {
    bool answered = false;
    in("a", [&] {
      auto fd = open_query_socket({.interface = "fibre", .to = {*parse_ip(address(3)), kReflectorPort}});
      ASSERT_TRUE(fd);
      ::send(fd->get(), packet.data(), packet.size(), 0);
      pollfd polled{.fd = fd->get(), .events = POLLIN, .revents = 0};
      answered = ::poll(&polled, 1, 300) > 0;
    });
    return answered;
  };
  const std::string key = tunnel(1, "fibre", "a-fibre", 3, 1).answer_key;
  const auto query = [](std::uint32_t number, std::uint16_t session) {
    return StampQuery{.number = number, .sent = {.nanoseconds = wall_now()}, .session = session};
  };
  const std::string good = write_query(query(1, 1), key);
  EXPECT_TRUE(answers(good));
  EXPECT_FALSE(answers(good)) << "it was seen";
  EXPECT_EQ(state("b").reflector.replayed, 1U);
  StampQuery old = query(2, 1);
  old.sent.nanoseconds -= 10'000'000'000;
  EXPECT_FALSE(answers(write_query(old, key)));
  EXPECT_EQ(state("b").reflector.replayed, 2U);
  EXPECT_FALSE(answers(write_query(query(3, 1), std::string(32, 'x'))));
  EXPECT_EQ(state("b").reflector.forged, 1U);
  EXPECT_FALSE(answers(write_query(query(4, 77), key)));
  EXPECT_FALSE(answers("hello"));
  EXPECT_EQ(state("b").reflector.unknown, 2U);
  EXPECT_FALSE(answers(write_query(query(5, 1), {}))) << "open mode";
  const std::uint64_t before = state("b").reflector.answered;
  EXPECT_TRUE(answers(write_query(query(6, 1), key) + std::string(100, '\0'))) << "padding is repeated";
  EXPECT_EQ(state("b").reflector.answered, before + 1);
}

TEST_F(WanMeasureTest, TargetsAreProbedByIcmpAndTcp) {
  Measured measured;
  const IpAddress target = *parse_ip(router(1));
  measured.links = {
      {.id = "fibre", .interface = "fibre", .kind = ProbeKind::kIcmp, .targets = {target}, .probe = {20ms, 500ms, 50}},
      {.id = "mobile",
       .interface = "mobile",
       .kind = ProbeKind::kTcp,
       .targets = {target, *parse_ip("10.77.200.1")},
       .target_port = 443,
       .probe = {20ms, 500ms, 50}}};
  ASSERT_TRUE(relay().set("a/fibre", Way::kUp, {.delay = 20ms}));
  ASSERT_TRUE(relay().set("a/mobile", Way::kDown, {.delay = 30ms}));
  measurers_["a"]->set(measured);
  ASSERT_TRUE(await([&] {
    const MeasuredState now = state("a");
    return std::ranges::all_of(now.links,
                               [](const PathReport& link) { return link.alive && link.quality.probes >= 50; });
  }));
  EXPECT_GE(state("a").links[0].quality.latency, 20ms);
  EXPECT_GE(state("a").links[1].quality.latency, 30ms) << "who refuses is there";
  ASSERT_TRUE(relay().set("a/mobile", Way::kUp, {.blackhole = true}));
  ASSERT_TRUE(await([&] { return !state("a").links[1].alive; }));
  EXPECT_TRUE(state("a").links[0].alive);
}

TEST_F(WanMeasureTest, AnInterfaceThatIsMissingIsTold) {
  Measured measured = fibre(20ms, 50);
  measured.tunnels[0].interface = "nothing";
  measurers_["a"]->set(measured);
  ASSERT_TRUE(await([&] { return !state("a").tunnels[0].cannot.empty() && state("a").tunnels[0].measured; }));
  EXPECT_NE(state("a").tunnels[0].cannot.find("nothing"), std::string::npos);
  EXPECT_EQ(state("a").tunnels[0].fault, Fault::kDead);
}

}  // namespace
}  // namespace edge::agent::wan
