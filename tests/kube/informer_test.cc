// Informers against a server that lists and watches as a test wants it.
#include "controller/kube/informer.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include <gmock/gmock.h>

#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using kube::Failure;
using kube::Informer;

const kube::Resource kWatched{
    .group = "x.io", .version = "v1", .plural = "things", .kind = "Thing", .namespaced = true};

std::string thing(const std::string& name, int version) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"n","resourceVersion":")" + std::to_string(version) +
         "\"}}";
}

std::string list_of(const std::vector<std::string>& items, int version, const std::string& next = "") {
  std::string text =
      R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"(","continue":")" + next + R"("},"items":[)";
  for (const std::string& item : items) text += (text.back() == '[' ? "" : ",") + item;
  return text + "]}";
}

std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

constexpr char kExpired[] = R"({"kind":"Status","reason":"Expired","message":"too old","code":410})";

/// What an informer has told, in short: `+n/a@2`, `-n/a`, `synced`, `up`, `down`.
class Follower {
 public:
  Follower(Bench& bench, kube::InformerOptions options = {}) {
    options.first_delay = std::chrono::milliseconds(20);
    options.longest_delay = std::chrono::milliseconds(100);
    informer_ = std::make_unique<Informer>(
        bench.client(), kWatched, options,
        kube::InformerEvents{
            .changed = [this](kube::Object object) { say("+" + object.key() + "@" + object.resource_version); },
            .removed = [this](const std::string& key) { say("-" + key); },
            .synced = [this] { say("synced"); },
            .connection = [this](bool up, const Failure&) { say(up ? "up" : "down"); }});
    informer_->start();
  }
  Informer& informer() { return *informer_; }
  bool said(const std::string& what) const { return std::ranges::find(told_, what) != told_.end(); }
  const std::vector<std::string>& reported() const { return told_; }
  std::function<void(const std::string&)> on_say;

 private:
  void say(std::string what) {
    told_.push_back(std::move(what));
    if (on_say) on_say(told_.back());
  }
  std::vector<std::string> told_;
  std::unique_ptr<Informer> informer_;
};

/// Answers lists and watches by turns: the n-th of each as its script says.
class Script {
 public:
  using Step = std::function<void(Exchange&)>;
  Script& list(Step step) { return lists_.push_back(std::move(step)), *this; }
  Script& watch(Step step) { return watches_.push_back(std::move(step)), *this; }

  void operator()(Exchange& exchange) {
    const bool watching = exchange.target.find("watch=true") != std::string::npos;
    std::deque<Step>& steps = watching ? watches_ : lists_;
    Step step;
    {
      const std::lock_guard lock(mutex_);
      if (steps.empty()) {
        step = watching ? Step([](Exchange& e) {
          e.begin_stream();
          e.wait_for_end();
        })
                        : Step([](Exchange& e) { e.refuse(500, "InternalError"); });
      } else {
        step = std::move(steps.front());
        steps.pop_front();
      }
    }
    step(exchange);
  }

 private:
  std::mutex mutex_;
  std::deque<Step> lists_, watches_;
};

Script::Step answer(std::string text) {
  return [text = std::move(text)](Exchange& exchange) { exchange.json(200, text); };
}
/// These events, and then nothing for ever.
Script::Step events(std::string text) {
  return [text = std::move(text)](Exchange& exchange) {
    exchange.begin_stream();
    exchange.chunk(text);
    exchange.wait_for_end();
  };
}
/// These, and then the connection breaks in the middle of another.
Script::Step torn(std::string text) {
  return [text = std::move(text)](Exchange& exchange) {
    exchange.begin_stream();
    exchange.chunk(text + R"({"type":"ADDED","obj)");
    exchange.cut();
  };
}
Script::Step refusal(int status, std::string reason) {
  return [=](Exchange& exchange) { exchange.refuse(status, reason); };
}

TEST(Informer, TellsTheListThenTheChanges) {
  Script script;
  script.list(answer(list_of({thing("a", 1), thing("b", 2)}, 5)))
      .watch(
          events(event("MODIFIED", thing("a", 6)) + event("DELETED", thing("b", 7)) + event("ADDED", thing("c", 8))));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench);
  ASSERT_TRUE(bench.until([&] { return follower.said("+n/c@8"); }));
  EXPECT_THAT(follower.reported(),
              testing::ElementsAre("up", "+n/a@1", "+n/b@2", "synced", "+n/a@6", "-n/b", "+n/c@8"));
  EXPECT_EQ(follower.informer().size(), 2u);
  EXPECT_EQ(api.count("resourceVersion=5"), 1u);
}

TEST(Informer, ReadsAnObjectAgainUntilItIsAnswered) {
  Script script;
  script.list(answer(list_of({thing("a", 1)}, 5)))
      .list(refusal(500, "InternalError"))
      .list(answer(list_of({thing("a", 1)}, 6)))
      .list(answer(list_of({thing("a", 9)}, 9)))
      .list(answer(list_of({}, 9)))
      .list(answer(list_of({thing("a", 1)}, 9)));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench);
  const auto told = [&](const std::string& what) { return std::ranges::count(follower.reported(), what); };
  const std::string one = "GET /apis/x.io/v1/namespaces/n/things?";
  ASSERT_TRUE(bench.until([&] { return follower.said("synced"); }));
  follower.informer().read_again("n", "a");
  ASSERT_TRUE(bench.until([&] { return told("+n/a@1") == 2; }));
  EXPECT_EQ(api.count(one), 2u);
  EXPECT_EQ(api.count("fieldSelector=metadata.name%3Da"), 2u);
  // Another version is the watch's to tell, and one that is gone, too.
  follower.informer().read_again("n", "a");
  ASSERT_TRUE(bench.until([&] { return api.count(one) == 3; }));
  follower.informer().read_again("n", "b");
  ASSERT_TRUE(bench.until([&] { return api.count("fieldSelector=metadata.name%3Db") == 1; }));
  follower.informer().read_again("n", "a");
  ASSERT_TRUE(bench.until([&] { return told("+n/a@1") == 3; }));
  EXPECT_EQ(follower.reported().size(), 5u) << "up, synced, and one version three times";
  EXPECT_EQ(follower.informer().version(), "5");
}

TEST(Informer, ReadsListsInPages) {
  Script script;
  script.list(answer(list_of({thing("a", 1)}, 5, "next"))).list(answer(list_of({thing("b", 2)}, 5)));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench, {.page = 1});
  ASSERT_TRUE(bench.until([&] { return follower.said("synced"); }));
  EXPECT_EQ(api.requests()[0], "GET /apis/x.io/v1/things?limit=1");
  EXPECT_EQ(api.requests()[1], "GET /apis/x.io/v1/things?limit=1&continue=next");
  EXPECT_EQ(follower.informer().size(), 2u);
}

TEST(Informer, ResumesWhereATornWatchEnded) {
  Script script;
  script.list(answer(list_of({}, 5)))
      .watch(torn(event("ADDED", thing("a", 6))))
      .watch(events(event("ADDED", thing("b", 7))));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench);
  ASSERT_TRUE(bench.until([&] { return follower.said("+n/b@7"); }));
  // A connection that broke and came back is nothing to be told of.
  EXPECT_THAT(follower.reported(), testing::ElementsAre("up", "synced", "+n/a@6", "+n/b@7"));
  EXPECT_EQ(follower.informer().lists(), 1u);
  EXPECT_EQ(api.count("resourceVersion=6"), 1u);
}

TEST(Informer, ResumesFromBookmarks) {
  Script script;
  script.list(answer(list_of({}, 5)))
      .watch(torn(event("BOOKMARK", R"({"metadata":{"resourceVersion":"90"}})")))
      .watch(events(event("ADDED", thing("b", 91))));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench);
  ASSERT_TRUE(bench.until([&] { return follower.said("+n/b@91"); }));
  EXPECT_EQ(api.count("resourceVersion=90"), 1u);
}

/// What is gone and what has come meanwhile is told, and nothing twice.
TEST(Informer, ListsAnewWhenItsVersionIsTooOld) {
  for (const Script::Step& expiry : {events(event("ERROR", kExpired)), refusal(410, "Expired")}) {
    Script script;
    script.list(answer(list_of({thing("a", 1), thing("b", 2), thing("c", 3)}, 5)))
        .watch(expiry)
        .list(answer(list_of({thing("b", 2), thing("c", 8), thing("d", 9)}, 10)));
    FakeApi api(std::ref(script));
    Bench bench(config_of(api.url()));
    Follower follower(bench);
    ASSERT_TRUE(bench.until([&] { return follower.said("-n/a"); }));
    EXPECT_THAT(follower.reported(),
                testing::ElementsAre("up", "+n/a@1", "+n/b@2", "+n/c@3", "synced", "+n/c@8", "+n/d@9", "-n/a"));
    EXPECT_EQ(follower.informer().lists(), 2u);
  }
}

TEST(Informer, TellsWhenTheServerIsLostAndBack) {
  Script script;
  script.list(refusal(503, "ServiceUnavailable"))
      .list([](Exchange& exchange) { exchange.cut(); })
      .list([](Exchange& exchange) { exchange.json(200, "nonsense"); })
      .list(answer(list_of({thing("a", 1)}, 5)));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()), {.tries = 0});
  Follower follower(bench);
  ASSERT_TRUE(bench.until([&] { return follower.said("synced"); }));
  EXPECT_THAT(follower.reported(), testing::ElementsAre("down", "up", "+n/a@1", "synced"));
}

TEST(Informer, OutlivesItsServer) {
  Script script;
  script.list(answer(list_of({thing("a", 1)}, 5)));
  auto api = std::make_unique<FakeApi>(std::ref(script));
  Bench bench(config_of(api->url()), {.tries = 0});
  Follower follower(bench);
  ASSERT_TRUE(bench.until([&] { return follower.said("synced"); }));
  api.reset();
  ASSERT_TRUE(bench.until([&] { return follower.said("down"); }));
  EXPECT_EQ(follower.informer().size(), 1u);
}

/// Neither a busy loop nor a flood of lists.
TEST(Informer, LeavesAServerAloneThatEndsEveryWatch) {
  Script script;
  script.list(answer(list_of({}, 5)));
  for (int i = 0; i < 1000; ++i) {
    script.watch([](Exchange& exchange) {
      exchange.begin_stream();
      exchange.end_stream();
    });
  }
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench, {.random = [] { return 1.0; }});
  ASSERT_TRUE(bench.until([&] { return follower.informer().watches() == 5; }));
  // 20, 40, 80, 100 ms: fewer than these were not left out.
  EXPECT_EQ(follower.informer().lists(), 1u);
}

TEST(Informer, MayBeStoppedByWhomItTells) {
  Script script;
  script.list(answer(list_of({thing("a", 1), thing("b", 2)}, 5)));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench);
  follower.on_say = [&](const std::string& what) {
    if (what == "+n/a@1") follower.informer().stop();
  };
  ASSERT_TRUE(bench.until([&] { return follower.said("+n/a@1"); }));
  bench.loop().poll();
  EXPECT_THAT(follower.reported(), testing::ElementsAre("up", "+n/a@1"));
}

TEST(Informer, EndsAtOnceWhereverItIs) {
  for (int turns = 0; turns < 200; turns += 5) {
    Script script;
    script.list(answer(list_of({thing("a", 1)}, 5)));
    FakeApi api(std::ref(script));
    Bench bench(config_of(api.url()));
    Follower follower(bench);
    for (int i = 0; i < turns; ++i) bench.loop().poll();
  }
}

/// Thousands of objects are told in stretches, so that others on the loop have their turn.
TEST(Informer, IsFairToOthersOnItsLoop) {
  std::vector<std::string> items;
  items.reserve(5000);
  for (int i = 0; i < 5000; ++i) items.push_back(thing("o" + std::to_string(i), i + 1));
  Script script;
  script.list(answer(list_of(items, 9000)));
  FakeApi api(std::ref(script));
  Bench bench(config_of(api.url()));
  Follower follower(bench);
  // A follower that takes its time.
  follower.on_say = [](const std::string&) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  // Another one, that has its turn once a round, and looks how far it has come.
  std::size_t before = 0;
  std::size_t most = 0;
  bool over = false;
  std::function<void()> turn = [&] {
    most = std::max(most, follower.reported().size() - before);
    before = follower.reported().size();
    over |= follower.informer().synced();
    if (!over) bench.loop().post(turn);
  };
  bench.loop().post(turn);
  ASSERT_TRUE(bench.until([&] { return over; }));
  EXPECT_EQ(follower.informer().size(), 5000u);
  EXPECT_LT(most, 2500u);
}

}  // namespace
}  // namespace edge::test
