// Calls and watches against a server that answers as a test wants it, over real sockets.
#include "controller/kube/client.h"

#include <atomic>
#include <fstream>

#include <gmock/gmock.h>

#include "controller/kube/blocking_client.h"
#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using kube::Failure;
using kube::Watch;

const kube::Resource kThings{.group = "x.io", .version = "v1", .plural = "things", .kind = "Thing", .namespaced = true};
constexpr char kThing[] = R"({"kind":"Thing","apiVersion":"x.io/v1","metadata":{"name":"a","namespace":"n"}})";

TEST(KubeClient, WritesPathsQueriesAndTypes) {
  std::vector<std::string> seen;
  FakeApi api([&](Exchange& exchange) {
    seen.push_back(exchange.method + " " + exchange.target + " " + exchange.field("Content-Type") + " " +
                   exchange.body);
    exchange.json(200, kThing);
  });
  Bench bench(config_of(api.url()));
  kube::Client& client = bench.client();
  const kube::WriteOptions as{.field_manager = "me", .force = true, .dry_run = true, .field_validation = "Strict"};
  EXPECT_TRUE(bench.get<kube::ObjectReply>([&](net::Waiter& w) { return client.get(w, kThings, "n", "a"); }).ok());
  EXPECT_TRUE(bench
                  .get<kube::ObjectReply>([&](net::Waiter& w) {
                    return client.patch(w, kThings, "n", "a", kube::PatchType::kApply, "{}", as);
                  })
                  .ok());
  kube::WriteOptions status{.field_manager = "me"};
  status.subresource = "status";
  EXPECT_TRUE(
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return client.update(w, kThings, "n", "a b", "{}", status); })
          .ok());
  EXPECT_TRUE(bench
                  .get<kube::Reply>([&](net::Waiter& w) {
                    return client.remove(w, kThings, "n", "a", {.propagation = "Foreground", .uid = "u"});
                  })
                  .ok());
  EXPECT_TRUE(bench
                  .get<kube::Reply>([&](net::Waiter& w) {
                    return client.remove_all(w, kThings, {.name_space = "n", .label_selector = "a=b,c"});
                  })
                  .ok());
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[0], "GET /apis/x.io/v1/namespaces/n/things/a  ");
  EXPECT_EQ(seen[1],
            "PATCH /apis/x.io/v1/namespaces/n/things/a?fieldManager=me&force=true&dryRun=All&fieldValidation=Strict "
            "application/apply-patch+yaml {}");
  EXPECT_EQ(seen[2], "PUT /apis/x.io/v1/namespaces/n/things/a%20b/status?fieldManager=me application/json {}");
  EXPECT_EQ(
      seen[3],
      "DELETE /apis/x.io/v1/namespaces/n/things/a application/json "
      R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u"},"propagationPolicy":"Foreground"})");
  EXPECT_EQ(seen[4],
            "DELETE /apis/x.io/v1/namespaces/n/things?labelSelector=a%3Db%2Cc application/json "
            R"({"apiVersion":"v1","kind":"DeleteOptions"})");
}

TEST(KubeClient, KeepsWhatTheServerSaysOfARefusal) {
  FakeApi api([](Exchange& exchange) { exchange.refuse(409, "Conflict", "the object has been modified"); });
  Bench bench(config_of(api.url()));
  const auto reply =
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", "a"); });
  EXPECT_TRUE(reply.failure.conflict());
  EXPECT_EQ(reply.failure.text(), "Conflict: the object has been modified");
  EXPECT_EQ(api.requests().size(), 1u);
}

TEST(KubeClient, TellsWarnings) {
  FakeApi api([](Exchange& exchange) {
    exchange.json(200, kThing, "Warning: 299 - \"say \\\"less\\\"\"\r\nWarning: 299 - \"two\"\r\n");
  });
  Bench bench(config_of(api.url()));
  const auto reply =
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", "a"); });
  EXPECT_THAT(reply.warnings, testing::ElementsAre("say \"less\"", "two"));
}

TEST(KubeClient, ListsAllPagesAndBeginsAnewWhenTheyGetTooOld) {
  std::atomic<int> calls = 0;
  FakeApi api([&](Exchange& exchange) {
    const bool second = exchange.target.find("continue=") != std::string::npos;
    const int call = ++calls;
    if (second && call == 2) return exchange.refuse(410, "Expired");
    const std::string name = second ? "b" : "a";
    exchange.json(200, R"({"metadata":{"resourceVersion":"5","continue":")" + std::string(second ? "" : "t=1") +
                           R"("},"items":[{"metadata":{"name":")" + name + R"("}}]})");
  });
  Bench bench(config_of(api.url()));
  const auto reply = bench.get<kube::ListReply>(
      [&](net::Waiter& w) { return bench.client().list_all(w, kThings, {.name_space = "n", .limit = 1}); });
  ASSERT_TRUE(reply.ok()) << reply.failure.text();
  ASSERT_EQ(reply.list.items.size(), 2u);
  EXPECT_EQ(reply.list.items[1].text, R"({"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"b"}})");
  EXPECT_EQ(api.requests().back(), "GET /apis/x.io/v1/namespaces/n/things?limit=1&continue=t%3D1");
}

TEST(KubeClient, RepeatsWhatTheServerWantsLater) {
  std::atomic<int> calls = 0;
  FakeApi api([&](Exchange& exchange) {
    if (++calls == 1) return exchange.refuse(429, "TooManyRequests", "slow down", "Retry-After: 1\r\n");
    exchange.json(201, kThing);
  });
  Bench bench(config_of(api.url()));
  const auto reply =
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().create(w, kThings, "n", kThing); });
  EXPECT_TRUE(reply.ok());
  EXPECT_EQ(calls, 2);
}

TEST(KubeClient, RepeatsReadsThatWereCutAndNoWrites) {
  std::atomic<int> calls = 0;
  FakeApi api([&](Exchange& exchange) {
    if (++calls % 2 == 1) return exchange.cut();
    exchange.json(200, kThing);
  });
  Bench bench(config_of(api.url()));
  kube::Client& client = bench.client();
  EXPECT_TRUE(bench.get<kube::ObjectReply>([&](net::Waiter& w) { return client.get(w, kThings, "n", "a"); }).ok());
  EXPECT_EQ(calls, 2);
  const auto write =
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return client.create(w, kThings, "n", kThing); });
  EXPECT_EQ(write.failure.kind, Failure::Kind::kConnection);
  EXPECT_EQ(calls, 3);
}

TEST(KubeClient, TellsWhyNothingAnswered) {
  std::string gone;
  {
    FakeApi api([](Exchange&) {});
    gone = api.url();
  }
  Bench bench(config_of(gone), {.tries = 0});
  const auto reply =
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", "a"); });
  EXPECT_EQ(reply.failure.kind, Failure::Kind::kConnection);
  EXPECT_EQ(reply.failure.text(), "cannot reach " + gone + ": Connection refused");
  EXPECT_EQ(reply.failure.as_error().code, ErrorCode::kUnavailable);
}

TEST(KubeClient, DoesNotWaitForEver) {
  FakeApi api([](Exchange& exchange) { exchange.wait_for_end(); });
  Bench bench(config_of(api.url()), {.timeout = std::chrono::milliseconds(50)});
  const auto reply =
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", "a"); });
  EXPECT_EQ(reply.failure.kind, Failure::Kind::kTimeout);
}

TEST(KubeClient, RefusesAnswersThatAreTooLargeOrNone) {
  FakeApi api([](Exchange& exchange) {
    exchange.json(200, exchange.target.ends_with("/a") ? std::string(5000, ' ') + kThing : "{\"metadata\":");
  });
  Bench bench(config_of(api.url()), {.max_body = 4096});
  for (const char* name : {"a", "b"}) {
    const auto reply =
        bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", name); });
    EXPECT_EQ(reply.failure.kind, Failure::Kind::kMalformed) << name;
  }
}

TEST(KubeClient, ReadsItsTokenAgainWhenItIsNotAccepted) {
  const std::string file = testing::TempDir() + "/kube_token";
  std::ofstream(file) << "old\n";
  std::vector<std::string> tokens;
  FakeApi api([&](Exchange& exchange) {
    tokens.push_back(exchange.field("Authorization"));
    if (tokens.back() == "Bearer new") return exchange.json(200, kThing);
    std::ofstream(file) << "new\n";
    exchange.refuse(401, "Unauthorized");
  });
  kube::Config config = config_of(api.url());
  config.identity.token_file = file;
  config.identity.impersonate = "somebody";
  Bench bench(std::move(config));
  EXPECT_TRUE(
      bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", "a"); }).ok());
  EXPECT_THAT(tokens, testing::ElementsAre("Bearer old", "Bearer new"));
}

TEST(KubeClient, DoesNotAskAgainWithWhatCannotChange) {
  FakeApi api([](Exchange& exchange) { exchange.refuse(401, "Unauthorized"); });
  kube::Config config = config_of(api.url());
  config.identity.token = "fixed";
  Bench bench(std::move(config));
  EXPECT_TRUE(bench.get<kube::ObjectReply>([&](net::Waiter& w) { return bench.client().get(w, kThings, "n", "a"); })
                  .failure.refused(401));
  EXPECT_EQ(api.requests().size(), 1u);
}

// ---- watches ------------------------------------------------------------------------------------------------------

std::string event_text(const std::string& type, const std::string& name, int version) {
  return R"({"type":")" + type + R"(","object":{"kind":"Thing","apiVersion":"x.io/v1","metadata":{"name":")" + name +
         R"(","resourceVersion":")" + std::to_string(version) + "\"}}}\n";
}

Watch::Next next_of(Bench& bench, Watch& watch, net::Duration patience = std::chrono::seconds(10)) {
  return bench.get<Watch::Next>([&](net::Waiter& w) { return watch.next(w, bench.loop().now() + patience); });
}

Watch begin(Bench& bench, const std::string& version = "1") {
  return bench.get<Watch>(
      [&](net::Waiter& w) { return bench.client().watch(w, kThings, {.resource_version = version}); });
}

TEST(KubeWatch, TellsEventsHoweverTheyAreTorn) {
  const std::string all =
      event_text("ADDED", "a", 2) + "\n" + event_text("MODIFIED", "a", 3) + event_text("DELETED", "a", 4);
  for (std::size_t at = 1; at < all.size(); ++at) {
    FakeApi api([&](Exchange& exchange) {
      exchange.begin_stream();
      exchange.chunk(all.substr(0, at));
      exchange.chunk(all.substr(at));
      exchange.end_stream();
    });
    Bench bench(config_of(api.url()));
    Watch watch = begin(bench);
    ASSERT_TRUE(watch.ok()) << watch.failure().text();
    for (const char* version : {"2", "3", "4"}) {
      const Watch::Next next = next_of(bench, watch);
      ASSERT_EQ(next.kind, Watch::Next::Kind::kEvent) << at << next.failure.text();
      ASSERT_EQ(next.event.object.resource_version, version) << at;
    }
    ASSERT_EQ(next_of(bench, watch).kind, Watch::Next::Kind::kEnd) << at;
  }
}

TEST(KubeWatch, TellsACutAtEveryByte) {
  const std::string all = event_text("ADDED", "a", 2);
  for (std::size_t size = 0; size < all.size(); size += 7) {
    FakeApi api([&](Exchange& exchange) {
      exchange.begin_stream();
      if (size > 0) exchange.chunk(all.substr(0, size));
      exchange.cut();
    });
    Bench bench(config_of(api.url()));
    Watch watch = begin(bench);
    ASSERT_TRUE(watch.ok());
    const Watch::Next next = next_of(bench, watch);
    ASSERT_EQ(next.kind, Watch::Next::Kind::kFailed) << size;
    ASSERT_EQ(next.failure.kind, Failure::Kind::kConnection) << size;
  }
}

TEST(KubeWatch, WaitsAndGoesOn) {
  std::atomic<bool> go = false;
  FakeApi api([&](Exchange& exchange) {
    exchange.begin_stream();
    while (!go) std::this_thread::yield();
    exchange.chunk(event_text("ADDED", "a", 2));
    exchange.wait_for_end();
  });
  Bench bench(config_of(api.url()));
  Watch watch = begin(bench);
  EXPECT_EQ(next_of(bench, watch, std::chrono::milliseconds(20)).failure.kind, Failure::Kind::kTimeout);
  go = true;
  EXPECT_EQ(next_of(bench, watch).kind, Watch::Next::Kind::kEvent);
}

TEST(KubeWatch, RefusesWhatIsMalformedOrTooLarge) {
  for (const std::string& frame : {std::string("{}\n"), std::string("nonsense\n"), std::string(5000, 'x')}) {
    FakeApi api([&](Exchange& exchange) {
      exchange.begin_stream();
      exchange.chunk(frame);
      exchange.wait_for_end();
    });
    Bench bench(config_of(api.url()), {.max_frame = 4096});
    Watch watch = begin(bench);
    EXPECT_EQ(next_of(bench, watch).failure.kind, Failure::Kind::kMalformed) << frame.substr(0, 20);
  }
}

TEST(KubeWatch, TellsWhyItWasRefused) {
  FakeApi api([](Exchange& exchange) { exchange.refuse(410, "Expired", "too old"); });
  Bench bench(config_of(api.url()));
  Watch watch = begin(bench);
  EXPECT_TRUE(watch.failure().expired()) << watch.failure().text();
}

/// What nobody asks for stays with the server: it is held up long before it has sent it all.
TEST(KubeWatch, IsHeldUpByWhoDoesNotRead) {
  std::atomic<std::size_t> sent = 0;
  std::atomic<bool> done = false;
  FakeApi api([&](Exchange& exchange) {
    exchange.begin_stream();
    const std::string event = event_text("ADDED", std::string(100'000, 'a'), 2);
    while (sent < 2000 && exchange.chunk(event)) ++sent;
    done = true;
  });
  Bench bench(config_of(api.url()));
  {
    Watch watch = begin(bench);
    ASSERT_TRUE(watch.ok());
    std::size_t before = 0;
    // Turned for as long as anything moves.
    do {
      before = sent;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
      while (std::chrono::steady_clock::now() < end) bench.loop().poll();
    } while (sent != before);
    EXPECT_LT(sent, 500u);
    EXPECT_FALSE(done);
    EXPECT_EQ(next_of(bench, watch).kind, Watch::Next::Kind::kEvent);
  }
  EXPECT_TRUE(bench.until([&] { return done.load(); }));
}

// ---- blocking -----------------------------------------------------------------------------------------------------

TEST(BlockingClient, CallsAndWatches) {
  FakeApi api([](Exchange& exchange) {
    if (exchange.target.find("watch=true") == std::string::npos) return exchange.json(200, kThing);
    exchange.begin_stream();
    for (int i = 0; i < 3; ++i) exchange.chunk(event_text("ADDED", "a", i));
    exchange.wait_for_end();
  });
  auto client = kube::BlockingClient::make(config_of(api.url()));
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->get(kThings, "n", "a").object.name, "a");
  int events = 0;
  const Failure ended =
      (*client)->watch(kThings, {}, net::kNever, [&](const kube::WatchEvent&) { return ++events < 2; });
  EXPECT_TRUE(ended.none());
  EXPECT_EQ(events, 2);
}

}  // namespace
}  // namespace edge::test
