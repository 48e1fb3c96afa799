// Keys of issuers over real sockets: fetched ahead, once for all who wait, kept through outages, renewed when they
// change.
#include "runtime/policy/auth/jwt/jwks_store.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "tests/support/issuer.h"
#include "tests/support/key_server.h"
#include "tests/support/recording_server.h"

namespace edge::runtime::auth {
namespace {

using namespace std::chrono_literals;
using test::KeyServer;
using test::SigningKey;

net::Detached ask(const JwksSource& source, net::Loop& loop, KeysNow& keys, int& left) {
  net::Waiter waiter(loop);
  keys = co_await source.renewed(loop, waiter);
  if (--left == 0) loop.stop();
}

/// As many requests as are asked for, all at once, on a loop of their own. \returns what the last was told.
KeysNow renewed(const JwksSource& source, int requests = 1) {
  net::Loop loop;
  std::vector<KeysNow> keys(static_cast<std::size_t>(requests));
  int left = requests;
  loop.post([&] {
    for (KeysNow& each : keys) ask(source, loop, each, left);
  });
  loop.run();
  for (const KeysNow& each : keys) EXPECT_EQ(each.keys, keys.back().keys);
  return keys.back();
}

/// Of a request that is traced, and has a token that needs keys.
net::Detached ask_traced(const JwksSource& source, net::Loop& loop, trace::RequestTrace& request, KeysNow& keys) {
  net::Waiter waiter(loop);
  const trace::Step policy = request.begin_step();
  keys = co_await source.renewed(loop, waiter, {&request, policy});
  loop.stop();
}

class JwksStoreTest : public testing::Test {
 protected:
  static constexpr JwksPace kQuick{.first_retry = 1ms, .last_retry = 1ms, .between_asked = 0ms};

  net::client::Url url() const { return *net::client::parse_url(server.url()); }

  KeyServer server;
  net::client::Resolver resolver;
  const std::string one = test::jwks({SigningKey("ES256", "one").jwk()});
  const std::string two = test::jwks({SigningKey("ES256", "two").jwk()});
};

TEST_F(JwksStoreTest, FetchesOnceForAllWhoWait) {
  server.answer(one);
  server.hold();
  JwksStore store(resolver);
  const auto source = store.source(url(), nullptr);
  EXPECT_EQ(store.source(url(), nullptr), source);
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] { EXPECT_NE(renewed(*source, 100).keys, nullptr); });
  }
  server.release();
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(source->keys(std::chrono::steady_clock::now()).keys->keys.front().id(), "one");
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(source->fault(), "");
}

TEST_F(JwksStoreTest, AStormOfUnknownKeysFetchesNothing) {
  server.answer(one);
  JwksStore store(resolver);
  const auto source = store.source(url(), nullptr);
  const KeysNow first = renewed(*source);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(renewed(*source, 100).generation, first.generation);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(JwksStoreTest, ANewKeyIsFetchedWhenATokenNamesIt) {
  server.answer(one);
  JwksStore store(resolver, kQuick);
  const auto source = store.source(url(), nullptr);
  const KeysNow before = renewed(*source);
  EXPECT_EQ(renewed(*source).generation, before.generation);
  server.answer(two);
  const KeysNow after = renewed(*source);
  EXPECT_NE(after.generation, before.generation);
  EXPECT_EQ(after.keys->keys.front().id(), "two");
}

TEST_F(JwksStoreTest, TheLastGoodKeysServeThroughAnOutage) {
  server.answer(one);
  JwksStore store(resolver, kQuick);
  const auto source = store.source(url(), nullptr);
  const KeysNow good = renewed(*source);
  for (const std::string& bad : {std::string("{"), std::string(R"({"keys":[]})"), std::string(kMaxKeySetBytes + 1, 'x'),
                                 std::string(R"({"keys":[{"kty":"oct","k":"AAAA"}]})")}) {
    server.answer(bad);
    EXPECT_EQ(renewed(*source).keys, good.keys) << bad.substr(0, 40);
    EXPECT_NE(source->fault(), "");
    server.answer(one);
    while (!source->fault().empty()) std::this_thread::yield();
  }
  server.answer(one, 503);
  EXPECT_EQ(renewed(*source).keys, good.keys);
  EXPECT_EQ(source->fault(), "status 503");
}

TEST_F(JwksStoreTest, WithoutKeysEverybodyIsToldSo) {
  server.answer("", 500);
  JwksStore store(resolver);
  const auto source = store.source(url(), nullptr);
  EXPECT_EQ(renewed(*source).keys, nullptr);
  // While it is not the time to try again, nobody waits.
  EXPECT_EQ(renewed(*source, 100).keys, nullptr);
}

TEST_F(JwksStoreTest, ASourceThatNobodyHoldsIsForgotten) {
  server.answer(one);
  JwksStore store(resolver);
  auto source = store.source(url(), nullptr);
  renewed(*source);
  source.reset();
  source = store.source(url(), nullptr);
  EXPECT_NE(renewed(*source).keys, nullptr);
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(JwksStoreTest, EndsInTheMidstOfAFetch) {
  server.hold();
  std::shared_ptr<const JwksSource> source;
  {
    JwksStore store(resolver);
    source = store.source(url(), nullptr);
    while (server.requests() == 0) std::this_thread::yield();
  }
  EXPECT_EQ(source->keys(std::chrono::steady_clock::now()).keys, nullptr);
}

TEST_F(JwksStoreTest, AFetchForATracedRequestIsToldOfIt) {
  const test::RecordingServer issuer(
      [&](const net::server::Request&) { return net::server::Reply{.content_type = "application/json", .body = one}; });
  JwksStore store(resolver, kQuick);
  const auto source =
      store.source(*net::client::parse_url("http://127.0.0.1:" + std::to_string(issuer.port()) + "/jwks"), nullptr);
  // The first fetch is nobody's.
  ASSERT_NE(renewed(*source).keys, nullptr);

  trace::SpanBuffers buffers;
  trace::Tracer tracer(&buffers.add_thread());
  const net::http1::HeadFields none{};
  const trace::TracePointer request = tracer.begin(none, trace::Tracer::Sender::kStranger, 100);
  net::Loop loop;
  KeysNow keys;
  loop.post([&] { ask_traced(*source, loop, *request, keys); });
  loop.run();
  EXPECT_NE(keys.keys, nullptr);
  const auto asked = issuer.requests("/jwks");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(asked[0].has("traceparent"));
  const trace::TraceText id = request->id_text();
  const std::string reported(asked[1].field("traceparent"));
  EXPECT_EQ(reported.substr(0, 36), "00-" + std::string(id.begin(), id.end()) + "-");
  request->end("GET", {});
  EXPECT_EQ(buffers.added(), 2u);
}

}  // namespace
}  // namespace edge::runtime::auth
