// Whole exchanges with a cache and an origin, without sockets.
#include "runtime/shape/cache/transaction.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/shape/cache/test_origin.h"

namespace edge::runtime::cache {
namespace {

using testing::Got;
using testing::Origin;
using testing::Said;
using testing::TestCache;

std::shared_ptr<Cache> make_cache(std::uint64_t max_bytes = 1 << 20, std::uint64_t max_entry = 1000) {
  return std::make_shared<Cache>(Sizes{max_bytes, max_entry}, 1);
}

/// Says the same each time, and remembers what it was asked.
struct Fixed {
  explicit Fixed(Said says) : said(std::move(says)) {}

  Said said;
  int cache_request = 0;
  std::string request;

  Origin origin() {
    return [this](const std::string& text) {
      ++cache_request;
      request = text;
      return said;
    };
  }
  bool was_asked(const std::string& line) const { return request.find("\r\n" + line + "\r\n") != std::string::npos; }
};

std::string status_of(const Got& got) { return got.head.substr(9, 3); }

TEST(Exchange, AMissIsStoredAndThenAHit) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\n", "text", {}}};
  const Got miss = position.exchange("GET", "", fixed.origin());
  EXPECT_FALSE(miss.from_cache);
  EXPECT_EQ(miss.cache_status, "edge; fwd=uri-miss; stored");
  position.now += 10;
  const Got hit = position.exchange("GET", "", fixed.origin());
  EXPECT_TRUE(hit.from_cache);
  EXPECT_EQ(hit.text, "text");
  EXPECT_EQ(hit.cache_status, "edge; hit; ttl=50");
  EXPECT_EQ(fixed.cache_request, 1);
  EXPECT_EQ(position.counts.hits.value(), 1u);
  EXPECT_EQ(position.counts.misses.value(), 1u);
  EXPECT_EQ(position.counts.stored.value(), 1u);
}

TEST(Exchange, AHeadIsAnsweredFromAGet_9110_9_3_2) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  const Got head = position.exchange("HEAD", "", fixed.origin());
  EXPECT_TRUE(head.from_cache);
  EXPECT_NE(head.head.find("Content-Length: 4\r\n"), std::string::npos);
}

TEST(Exchange, OnlyIfCached_5_2_1_7) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\n", "text", {}}};
  EXPECT_TRUE(position.exchange("GET", "Cache-Control: only-if-cached\n", fixed.origin()).refused);
  position.exchange("GET", "", fixed.origin());
  EXPECT_TRUE(position.exchange("GET", "Cache-Control: only-if-cached\n", fixed.origin()).from_cache);
  position.now += 60;
  EXPECT_TRUE(position.exchange("GET", "Cache-Control: only-if-cached\n", fixed.origin()).refused);
  EXPECT_EQ(fixed.cache_request, 1);
}

TEST(Exchange, WhatIsStaleIsValidatedWithItsOwnValidators_4_3_1) {
  TestCache position(make_cache());
  Fixed fixed{
      {200, "Cache-Control: max-age=60\nETag: \"v1\"\nLast-Modified: Sun, 06 Nov 1994 08:00:00 GMT\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 60;
  fixed.said = {304, "Cache-Control: max-age=60\nETag: \"v1\"\n", "", {}};
  const Got got =
      position.exchange("GET", "If-None-Match: \"old\"\nIf-Modified-Since: x\nRange: bytes=1-2\n", fixed.origin());
  EXPECT_TRUE(fixed.was_asked("If-None-Match: \"v1\""));
  EXPECT_TRUE(fixed.was_asked("If-Modified-Since: Sun, 06 Nov 1994 08:00:00 GMT"));
  EXPECT_FALSE(fixed.was_asked("If-None-Match: \"old\""));
  EXPECT_FALSE(fixed.was_asked("Range: bytes=1-2"));
  EXPECT_EQ(status_of(got), "206");
  EXPECT_EQ(got.text, "ex");
  EXPECT_EQ(got.cache_status, "edge; fwd=stale; fwd-status=304; ttl=60");
  EXPECT_EQ(position.counts.revalidated.value(), 1u);
  EXPECT_TRUE(position.exchange("GET", "", fixed.origin()).from_cache);
  EXPECT_EQ(fixed.cache_request, 2);
}

TEST(Exchange, AnotherAnswerReplacesWhatIsStored_4_3_3) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\nETag: \"v1\"\n", "old", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 60;
  fixed.said = {200, "Cache-Control: max-age=60\nETag: \"v2\"\n", "new", {}};
  EXPECT_EQ(position.exchange("GET", "", fixed.origin()).text, "new");
  const Got hit = position.exchange("GET", "", fixed.origin());
  EXPECT_TRUE(hit.from_cache);
  EXPECT_EQ(hit.text, "new");
}

TEST(Exchange, A304OfSomethingElseIsAskedForAgainWithoutConditions_4_3_4) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\nETag: \"v1\"\n", "old", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 60;
  int cache_request = 0;
  const Got got = position.exchange("GET", "", [&](const std::string& request) {
    ++cache_request;
    if (request.find("If-None-Match") != std::string::npos) return Said{304, "ETag: \"v2\"\n", "", {}};
    return Said{200, "Cache-Control: max-age=60\nETag: \"v2\"\n", "new", {}};
  });
  EXPECT_EQ(cache_request, 2);
  EXPECT_EQ(got.text, "new");
  EXPECT_FALSE(got.from_cache);
}

TEST(Exchange, A304ThatMayNotBeKeptGivesItsFieldsToItsClient_3_2) {
  const auto cache = make_cache();
  TestCache position(cache);
  Fixed fixed{{200, "Cache-Control: max-age=60\nETag: \"v1\"\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 60;
  const Got got = position.exchange(
      "GET", "", Fixed{{304, "ETag: \"v1\"\nSet-Cookie: a=c\nCache-Control: max-age=60\n", "", {}}}.origin());
  EXPECT_TRUE(got.from_cache);
  EXPECT_EQ(got.text, "text");
  EXPECT_NE(got.head.find("Set-Cookie: a=c\r\n"), std::string::npos) << got.head;
  EXPECT_EQ(cache->store().stats().entries, 0u);
}

TEST(Exchange, StaleIfError_5861_4) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60, stale-if-error=30\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 80;
  fixed.said = {503, "", "broken", {}};
  EXPECT_EQ(position.exchange("GET", "", fixed.origin()).text, "text");
  fixed.said.status = 0;  // no answer at all
  EXPECT_EQ(position.exchange("GET", "", fixed.origin()).text, "text");
  EXPECT_EQ(position.counts.stale_hits.value(), 2u);
  position.now += 11;
  fixed.said.status = 503;
  EXPECT_EQ(position.exchange("GET", "", fixed.origin()).text, "broken");
}

TEST(Exchange, StaleWhileRevalidate_5861_3) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60, stale-while-revalidate=30\nETag: \"v1\"\n", "old", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 70;
  fixed.said = {200, "Cache-Control: max-age=60\nETag: \"v2\"\n", "new", {}};
  const Got stale = position.exchange("GET", "", fixed.origin());
  EXPECT_EQ(stale.text, "old");
  EXPECT_EQ(stale.cache_status, "edge; hit; ttl=-10");
  EXPECT_TRUE(stale.refreshes);
  EXPECT_TRUE(fixed.was_asked("If-None-Match: \"v1\""));
  const Got fresh = position.exchange("GET", "", fixed.origin());
  EXPECT_EQ(fresh.text, "new");
  EXPECT_FALSE(fresh.asked_origin);
  EXPECT_EQ(position.counts.refreshed.value(), 1u);
}

TEST(Exchange, WhatBreaksOffOrIsTooLargeIsNotStored) {
  const auto cache = make_cache();
  TestCache position(cache);
  Fixed fixed{{200, "Cache-Control: max-age=60\n", std::string(100, 'x'), 50}};
  position.exchange("GET", "", fixed.origin());
  fixed.said = {200, "Cache-Control: max-age=60\n", std::string(1001, 'x'), {}};
  position.exchange("GET", "", fixed.origin());
  EXPECT_EQ(cache->store().stats().entries, 0u);
  fixed.said.text.pop_back();
  position.exchange("GET", "", fixed.origin());
  EXPECT_EQ(cache->store().stats().entries, 1u);
  EXPECT_EQ(cache->fills().size(), 0u);
}

TEST(Exchange, UnsafeMethodsInvalidate_4_4) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\n", "text", {}}};
  for (const char* path : {"/a", "/b", "/c"}) position.exchange("GET", "", fixed.origin(), path);
  fixed.said = {404, "Content-Location: /b\n", "", {}};
  position.exchange("PUT", "", fixed.origin(), "/a");
  EXPECT_TRUE(position.exchange("GET", "", fixed.origin(), "/a").from_cache);
  fixed.said = {201, "Content-Location: /b\nLocation: http://elsewhere/c\n", "", {}};
  position.exchange("POST", "", fixed.origin(), "/a");
  EXPECT_FALSE(position.exchange("GET", "", fixed.origin(), "/a").from_cache);
  EXPECT_FALSE(position.exchange("GET", "", fixed.origin(), "/b").from_cache);
  EXPECT_TRUE(position.exchange("GET", "", fixed.origin(), "/c").from_cache);
  EXPECT_EQ(position.counts.invalidated.value(), 2u);
}

TEST(Exchange, WhatIsFetchedWhileItChangesIsNotStored_4_4) {
  const auto cache = make_cache();
  TestCache position(cache);
  Fixed changes{{204, "", "", {}}};
  position.exchange("GET", "", [&](const std::string&) {
    position.exchange("DELETE", "", changes.origin());
    return Said{200, "Cache-Control: max-age=60\n", "old", {}};
  });
  EXPECT_EQ(cache->store().stats().entries, 0u);
}

TEST(Exchange, TheAnswerToAHeadMayEndWhatIsStored_4_3_5) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\nETag: \"v1\"\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 60;
  position.exchange("HEAD", "", fixed.origin());  // the same: renewed
  EXPECT_TRUE(position.exchange("GET", "", fixed.origin()).from_cache);
  position.now += 60;
  fixed.said.lines = "Cache-Control: max-age=60\nETag: \"v2\"\n";
  position.exchange("HEAD", "", fixed.origin());
  position.exchange("GET", "", fixed.origin());
  EXPECT_FALSE(fixed.was_asked("If-None-Match: \"v1\""));
}

TEST(Exchange, TheAnswerToAHeadRenewsWhatHasNoValidators_4_3_5) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=2\nX-A: 1\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  position.now += 3;
  fixed.said.lines = "Cache-Control: max-age=1000\nX-A: 2\n";
  position.exchange("HEAD", "", fixed.origin());
  const Got got = position.exchange("GET", "", fixed.origin());
  EXPECT_TRUE(got.from_cache);
  EXPECT_EQ(got.text, "text");
  EXPECT_NE(got.head.find("X-A: 2\r\n"), std::string::npos) << got.head;
  // Of another status: that is of the past.
  position.now += 1000;
  fixed.said.status = 410;
  position.exchange("HEAD", "", fixed.origin());
  fixed.said.status = 200;
  EXPECT_FALSE(position.exchange("GET", "", fixed.origin()).from_cache);
}

TEST(Exchange, ConditionsOnTheOriginGoToTheOrigin_4_3_2) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\nETag: \"v1\"\n", "text", {}}};
  position.exchange("GET", "", fixed.origin());
  EXPECT_FALSE(position.exchange("GET", "If-Match: \"v1\"\n", fixed.origin()).from_cache);
  EXPECT_FALSE(position.exchange("GET", "Content-Length: 3\n", fixed.origin()).from_cache);
  EXPECT_EQ(position.counts.bypassed.value(), 2u);
}

// ---- Request collapsing -------------------------------------------------------------------------------------------

const std::string kGet = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";
using Plan = Transaction::Plan;

Plan begin(Transaction& transaction, const std::function<void()>& wake, const std::string& head = kGet) {
  const Plan plan = transaction.look_up(head);
  transaction.keep();
  return plan == Plan::kFetch ? transaction.fetch(wake) : plan;
}
Plan again(Transaction& transaction) {
  const Plan plan = transaction.look_up();
  return plan == Plan::kFetch ? transaction.fetch([] {}) : plan;
}

TEST(Collapsing, OneFetchesAndTheOthersWaitForWhatMayYetBeTooLarge) {
  TestCache position(make_cache());
  const auto leader = position.begin();
  const auto follower = position.begin();
  int woken = 0;
  ASSERT_EQ(begin(*leader, [] {}), Plan::kForward);
  ASSERT_EQ(begin(*follower, [&] { ++woken; }), Plan::kWait);
  const testing::Answer answer("Cache-Control: max-age=60\nTransfer-Encoding: chunked\n");
  ASSERT_EQ(leader->head(answer.head(), {}), Transaction::Take::kCopy);
  leader->body("text");
  EXPECT_EQ(woken, 0);
  leader->end();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(again(*follower), Plan::kReuse);
  EXPECT_EQ(follower->status(), "edge; fwd=uri-miss; ttl=60; collapsed");
  EXPECT_EQ(position.counts.collapsed.value(), 1u);
}

/// Reads what is there of a body that comes.
std::string read_on(Transaction& transaction, std::size_t from) {
  std::string read;
  for (;;) {
    const std::string_view piece = transaction.entry()->body->at(from + read.size());
    if (piece.empty()) return read;
    read += piece;
  }
}

TEST(Collapsing, TheOthersReadWhatComes) {
  TestCache position(make_cache());
  const auto leader = position.begin();
  const auto follower = position.begin();
  const auto late = position.begin();
  int woken = 0;
  int news = 0;
  int reported = 0;
  ASSERT_EQ(begin(*leader, [] {}), Plan::kForward);
  leader->tell_of_readers([&] { ++reported; });
  ASSERT_EQ(begin(*follower, [&] { ++woken; }), Plan::kWait);
  const testing::Answer answer("Cache-Control: max-age=60\nContent-Length: 8\n");
  ASSERT_EQ(leader->head(answer.head(), {}), Transaction::Take::kCopy);
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(leader->shared(0));
  ASSERT_EQ(again(*follower), Plan::kReuse);
  EXPECT_TRUE(leader->shared(0));
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(follower->status(), "edge; fwd=uri-miss; ttl=60; collapsed");
  EXPECT_EQ(read_on(*follower, 0), "");
  EXPECT_EQ(follower->await(0, [&] { ++news; }), BodySource::More::kComes);
  leader->body("text");
  EXPECT_EQ(news, 1);
  EXPECT_EQ(follower->await(0, [] {}), BodySource::More::kHere);
  EXPECT_EQ(read_on(*follower, 0), "text");
  // Who comes later reads along at once.
  ASSERT_EQ(begin(*late, [] {}), Plan::kReuse);
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(read_on(*late, 2), "xt");
  leader->body("more");
  leader->end();
  EXPECT_EQ(read_on(*late, 4), "more");
  EXPECT_EQ(late->await(8, [] {}), BodySource::More::kNever);
  EXPECT_TRUE(position.exchange("GET", "", Fixed({}).origin()).from_cache);
}

TEST(Collapsing, WhatBreaksOffBreaksOffForAll) {
  TestCache position(make_cache());
  auto leader = position.begin();
  const auto follower = position.begin();
  begin(*leader, [] {});
  const testing::Answer answer("Cache-Control: max-age=60\nContent-Length: 8\n");
  leader->head(answer.head(), {});
  leader->body("text");
  ASSERT_EQ(begin(*follower, [] {}), Plan::kReuse);
  int news = 0;
  EXPECT_EQ(follower->await(4, [&] { ++news; }), BodySource::More::kComes);
  // The leader's client is not what it is fetched for any more.
  EXPECT_TRUE(leader->outlives_client());
  leader.reset();
  EXPECT_EQ(news, 1);
  EXPECT_EQ(follower->await(4, [] {}), BodySource::More::kNever);
  EXPECT_EQ(read_on(*follower, 0), "text");
}

TEST(Collapsing, WhatIsKeptForASlowLeaderIsBounded) {
  const auto cache = make_cache(8 << 20, 1000);
  TestCache position(cache);
  auto leader = position.begin();
  const auto follower = position.begin();
  begin(*leader, [] {});
  const testing::Answer answer("Cache-Control: max-age=60\nContent-Length: 8\n");
  leader->head(answer.head(), {});
  begin(*follower, [] {});
  // An eighth of the cache, for all that is under way.
  EXPECT_TRUE(leader->shared(700'000));
  EXPECT_FALSE(leader->shared(1 << 20));
  leader.reset();
  EXPECT_TRUE(cache->reserve(1 << 20));
}

TEST(Collapsing, NobodyBeginsToReadWhatIsGivenUp) {
  TestCache position(make_cache());
  const auto leader = position.begin();
  const auto follower = position.begin();
  begin(*leader, [] {});
  const testing::Answer answer("Cache-Control: max-age=60\nContent-Length: 8\n");
  leader->head(answer.head(), {});
  EXPECT_FALSE(leader->outlives_client());
  EXPECT_EQ(begin(*follower, [] {}), Plan::kWait);
}

TEST(Collapsing, WhatMayBeTakenBackIsNotReadBefore) {
  TestCache position(make_cache());
  const auto leader = position.begin();
  const auto follower = position.begin();
  leader->keep_to_itself();
  begin(*leader, [] {});
  const testing::Answer answer("Cache-Control: max-age=60\nContent-Length: 4\n");
  leader->head(answer.head(), {});
  EXPECT_EQ(begin(*follower, [] {}), Plan::kWait);
}

TEST(Collapsing, WhatComesIsJudgedLikeWhatIsStored) {
  TestCache position(make_cache());
  const auto leader = position.begin();
  begin(*leader, [] {});
  const testing::Answer answer("Cache-Control: max-age=60\nVary: X-A\nAge: 10\nContent-Length: 4\nETag: \"v1\"\n");
  leader->head(answer.head(), {});
  const auto ask = [&](const std::string& lines) {
    return begin(*position.begin(), [] {}, "GET / HTTP/1.1\r\nHost: example.com\r\n" + lines + "\r\n");
  };
  EXPECT_EQ(ask(""), Plan::kReuse);
  EXPECT_EQ(ask("Cache-Control: max-age=10\r\n"), Plan::kReuse);
  // Too old for this one: stored, it is validated.
  EXPECT_EQ(ask("Cache-Control: max-age=9\r\n"), Plan::kWait);
  EXPECT_EQ(ask("Cache-Control: no-cache\r\n"), Plan::kForward);
  // Another variant is fetched side by side, before the first is here.
  EXPECT_EQ(ask("X-A: 1\r\n"), Plan::kForward);
  // Changed meanwhile: it is of the past, and not read any more.
  position.exchange("POST", "", Fixed({}).origin());
  EXPECT_EQ(ask(""), Plan::kWait);
}

TEST(Collapsing, NobodyWaitsForWhatCannotBeStored) {
  TestCache position(make_cache());
  const auto leader = position.begin();
  const auto follower = position.begin();
  int woken = 0;
  ASSERT_EQ(begin(*leader, [] {}), Plan::kForward);
  ASSERT_EQ(begin(*follower, [&] { ++woken; }), Plan::kWait);
  const testing::Answer answer("Cache-Control: private\nContent-Length: 4\n");
  ASSERT_EQ(leader->head(answer.head(), {}), Transaction::Take::kPass);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(again(*follower), Plan::kForward);
  // For a while nobody is made to wait for it.
  const auto third = position.begin();
  EXPECT_EQ(begin(*third, [] {}), Plan::kForward);
  position.now += Fills::kPassFor;
  const auto fourth = position.begin();
  EXPECT_EQ(begin(*fourth, [] {}), Plan::kWait);
}

TEST(Collapsing, ALeaderThatGoesWakesTheOthers) {
  TestCache position(make_cache());
  auto leader = position.begin();
  const auto follower = position.begin();
  int woken = 0;
  begin(*leader, [] {});
  begin(*follower, [&] { ++woken; });
  leader.reset();
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(again(*follower), Plan::kForward);
}

TEST(Collapsing, VariantsAreFetchedSideBySide) {
  TestCache position(make_cache());
  Fixed fixed{{200, "Cache-Control: max-age=60\nVary: X-A\n", "text", {}}};
  position.exchange("GET", "X-A: 0\n", fixed.origin());
  const std::string head = "GET / HTTP/1.1\r\nHost: example.com\r\nX-A: ";
  const auto one = position.begin();
  const auto two = position.begin();
  const auto also_two = position.begin();
  EXPECT_EQ(begin(*one, [] {}, head + "1\r\n\r\n"), Plan::kForward);
  EXPECT_EQ(begin(*two, [] {}, head + "2\r\n\r\n"), Plan::kForward);
  EXPECT_EQ(begin(*also_two, [] {}, head + "2\r\n\r\n"), Plan::kWait);
}

TEST(Collapsing, ThreadsFetchAKeyOnce) {
  const auto cache = make_cache();
  std::atomic<int> fetched{0};
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      TestCache position(cache);
      for (int i = 0; i < 200; ++i) {
        const std::string path = "/" + std::to_string(i);
        std::string head = kGet;
        head.replace(4, 1, path);
        const auto transaction = position.begin(path);
        std::atomic<bool> woken{false};
        const auto wake = [&] {
          woken = true;
          woken.notify_one();
        };
        Plan plan = begin(*transaction, wake, head);
        if (plan == Plan::kWait) {
          woken.wait(false);
          plan = again(*transaction);
        }
        if (plan == Plan::kForward) {
          ++fetched;
          const testing::Answer answer("Cache-Control: max-age=60\nContent-Length: 4\n");
          ASSERT_EQ(transaction->head(answer.head(), {}), Transaction::Take::kCopy);
          transaction->body("text");
          transaction->end();
          transaction->forwarded(false);
        }
        ++answered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetched, 200);
  EXPECT_EQ(answered, 800);
}

// ---- Gateways and purges ------------------------------------------------------------------------------------------

TEST(Caches, OutliveProgramsButNotTheirSizes) {
  Caches caches(1);
  auto first = caches.of_gateway(1, {1 << 20, 1000});
  EXPECT_EQ(caches.of_gateway(1, {1 << 20, 1000}), first);
  EXPECT_NE(caches.of_gateway(2, {1 << 20, 1000}), first);
  EXPECT_NE(caches.of_gateway(1, {1 << 21, 1000}), first);
}

TEST(Caches, PurgeByHostRouteAndAll) {
  Caches caches(1);
  const auto cache = caches.of_gateway(1, {1 << 20, 1000});
  TestCache position(cache);
  Fixed fixed{{200, "Cache-Control: max-age=60\n", "text", {}}};
  const auto fill = [&] {
    for (const char* path : {"/a", "/b"}) position.exchange("GET", "", fixed.origin(), path);
  };
  fill();
  EXPECT_EQ(caches.stats().entries, 2u);
  EXPECT_EQ(caches.purge({false, *HostPattern::parse("example.org"), ""}), 0u);
  EXPECT_EQ(caches.purge({false, {}, "api"}), 0u);
  EXPECT_EQ(caches.purge({false, {}, "other/web"}), 0u);
  EXPECT_EQ(caches.purge({false, {}, ""}), 0u);
  EXPECT_EQ(caches.purge({false, *HostPattern::parse("*.com"), ""}), 2u);
  fill();
  EXPECT_EQ(caches.purge({false, {}, "web"}), 2u);
  fill();
  EXPECT_EQ(caches.purge({false, {}, "shop/web"}), 2u);
  fill();
  EXPECT_EQ(caches.purge({true, {}, ""}), 2u);
  EXPECT_EQ(caches.stats().entries, 0u);
}

TEST(Caches, WhatIsOnItsWayInIsBounded) {
  const auto cache = make_cache(8000, 1000);
  std::vector<std::unique_ptr<Transaction>> fills;
  TestCache position(cache);
  const auto fill = [&](const char* length) {
    const testing::Answer answer(std::string("Cache-Control: max-age=60\n") + length);
    for (int i = 0; i < 5; ++i) {
      const std::string path = std::string("/") + length[0] + std::to_string(i);
      fills.push_back(position.begin(path));
      begin(*fills.back(), nullptr);
      fills.back()->head(answer.head(), {});
      fills.back()->body(std::string(900, 'x'));
    }
    for (const auto& fill : fills) fill->end();
    fills.clear();
  };
  fill("Transfer-Encoding: chunked\n");
  EXPECT_EQ(cache->store().stats().entries, 1u);
  EXPECT_EQ(position.counts.abandoned.value(), 4u);
  // Whose size is told is not even begun.
  fill("Content-Length: 900\n");
  EXPECT_EQ(cache->store().stats().entries, 2u);
  EXPECT_EQ(position.counts.abandoned.value(), 4u);
}

}  // namespace
}  // namespace edge::runtime::cache
