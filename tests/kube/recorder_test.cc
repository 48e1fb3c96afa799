// Events: told once, then counted, and never too many.
#include "controller/kube/recorder.h"

#include <atomic>

#include <nlohmann/json.hpp>

#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using kube::EventLevel;
using Json = nlohmann::json;

const kube::Regarding kRoute{
    .api_version = "edgeproxy.io/v1alpha1", .kind = "ProxyRoute", .name_space = "shop", .name = "api", .uid = "u1"};

class RecorderTest : public testing::Test {
 protected:
  void handle(Exchange& exchange) {
    // Merge patches of events carry no version.
    if (down_) return exchange.refuse(503, "ServiceUnavailable");
    shelf_.handle(exchange);
  }
  bool settled() {
    return bench_.until([&] { return recorder_.sent() + recorder_.dropped() >= expected_; });
  }
  std::vector<Json> events() const {
    std::vector<Json> out;
    for (const std::string& path : shelf_.paths()) out.push_back(Json::parse(shelf_.text(path)));
    return out;
  }

  ObjectShelf shelf_;
  std::atomic<bool> down_ = false;
  FakeApi api_{[this](Exchange& exchange) { handle(exchange); }};
  net::ManualClock clock_;
  Bench bench_{config_of(api_.url()), {.tries = 0}, &clock_};
  std::uint64_t expected_ = 0;
  std::chrono::system_clock::time_point wall_{std::chrono::seconds(1'700'000'000)};
  kube::Recorder recorder_{bench_.client(), {.burst = 3, .wall = [this] { return wall_; }}};
};

TEST_F(RecorderTest, WritesWhatDescribeShows) {
  recorder_.record(kRoute, EventLevel::kWarning, "Rejected", "no backend");
  expected_ = 1;
  ASSERT_TRUE(settled());
  ASSERT_EQ(events().size(), 1u);
  const Json event = events()[0];
  EXPECT_EQ(event["metadata"]["namespace"], "shop");
  EXPECT_EQ(event["involvedObject"]["kind"], "ProxyRoute");
  EXPECT_EQ(event["involvedObject"]["uid"], "u1");
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["reason"], "Rejected");
  EXPECT_EQ(event["message"], "no backend");
  EXPECT_EQ(event["count"], 1);
  EXPECT_EQ(event["lastTimestamp"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(event["source"]["component"], "edge-controller");
}

TEST_F(RecorderTest, CountsWhatRepeats) {
  for (int i = 0; i < 3; ++i) {
    recorder_.record(kRoute, EventLevel::kNormal, "Accepted", "fine");
    ++expected_;
    ASSERT_TRUE(settled());
  }
  ASSERT_EQ(events().size(), 1u);
  EXPECT_EQ(events()[0]["count"], 3);
  // Much later it is a new one.
  clock_.advance(std::chrono::hours(1));
  wall_ += std::chrono::hours(1);
  bench_.loop().poll();
  recorder_.record(kRoute, EventLevel::kNormal, "Accepted", "fine");
  ++expected_;
  ASSERT_TRUE(settled());
  EXPECT_EQ(events().size(), 2u);
  EXPECT_EQ(api_.count("PATCH"), 2u);
}

TEST_F(RecorderTest, BoundsWhatOneObjectTells) {
  for (int i = 0; i < 100; ++i) recorder_.record(kRoute, EventLevel::kNormal, "Changed", std::to_string(i));
  expected_ = 100;
  ASSERT_TRUE(settled());
  EXPECT_EQ(recorder_.sent(), 3u);
  EXPECT_EQ(recorder_.dropped(), 97u);
  // Another object has its own measure.
  kube::Regarding other = kRoute;
  other.name = "other";
  recorder_.record(other, EventLevel::kNormal, "Changed", "x");
  expected_ = 101;
  ASSERT_TRUE(settled());
  EXPECT_EQ(recorder_.sent(), 4u);
}

TEST_F(RecorderTest, SaysWhenEachEventIsDoneWith) {
  std::string done;
  const auto tell = [&](const char* message, char mark) {
    recorder_.record(kRoute, EventLevel::kNormal, "Changed", message, [&done, mark] { done += mark; });
  };
  tell("x", 'a');
  EXPECT_EQ(done, "") << "it is under way";
  tell("x", 'b');
  EXPECT_EQ(done, "b") << "counted with the first";
  tell("y", 'c');
  tell("z", 'd');
  tell("too many", 'e');
  EXPECT_EQ(done, "be") << "dropped";
  ASSERT_TRUE(bench_.until([&] { return done.size() == 5; }));
  EXPECT_EQ(done, "beacd");
  EXPECT_EQ(recorder_.sent(), 3u);
  {
    kube::Recorder gone(bench_.client());
    gone.record(kRoute, EventLevel::kNormal, "Changed", "x", [&done] { done += 'f'; });
  }
  bench_.loop().poll();
  EXPECT_EQ(done, "beacd") << "nobody is there to be told";
}

TEST_F(RecorderTest, GivesUpOnAServerThatIsAway) {
  down_ = true;
  recorder_.record(kRoute, EventLevel::kNormal, "Changed", "x");
  // In small steps: a try's own time must not be over before a slow machine has answered it.
  ASSERT_TRUE(bench_.until([&] {
    clock_.advance(std::chrono::milliseconds(1));
    return recorder_.dropped() == 1;
  }));
  EXPECT_EQ(api_.requests().size(), 3u);
  down_ = false;
  recorder_.record(kRoute, EventLevel::kNormal, "Changed", "x");
  expected_ = 2;
  ASSERT_TRUE(settled());
  EXPECT_EQ(recorder_.sent(), 1u);
}

TEST_F(RecorderTest, CutsMessagesWhereACharacterBegins) {
  std::string message = "x";
  for (int i = 0; i < 1000; ++i) message += "\xc3\xa9";
  recorder_.record(kRoute, EventLevel::kNormal, "Changed", message);
  expected_ = 1;
  ASSERT_TRUE(settled());
  const std::string reported = events()[0]["message"];
  EXPECT_LE(reported.size(), 1024u);
  EXPECT_TRUE(reported.ends_with("\xc3\xa9..."));
}

}  // namespace
}  // namespace edge::test
