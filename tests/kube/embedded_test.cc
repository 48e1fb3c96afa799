// The client against the embedded API: TLS, client certificates, and the same calls that a cluster gets.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "controller/kube/blocking_client.h"
#include "controller/kube/elector.h"
#include "controller/kube/informer.h"
#include "controller/kube/recorder.h"
#include "controller/resource_api/http/resource_api_server.h"
#include "tests/kube/bench.h"

namespace edge::test {
namespace {

using kube::Informer;
using kube::PatchType;
using resource_api::http::ResourceApiServer;

const kube::Resource kConfigMaps{
    .group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap", .namespaced = true};

std::string config_map(const std::string& name, const std::string& value) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":{"v":")" + value +
         "\"}}";
}

class EmbeddedApi : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "embedded.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    serve(0);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  void serve(std::uint16_t port) {
    auto started = ResourceApiServer::start({.data_dir = directory_, .port = port});
    ASSERT_TRUE(started.ok()) << started.error().text;
    server_ = std::move(*started);
  }
  kube::Config config() const {
    kube::ConfigSources sources;
    sources.kubeconfig = directory_ + "/kubeconfig";
    Result<kube::Config> config = kube::Config::resolve(sources);
    EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().text);
    return config.ok() ? *config : kube::Config{};
  }
  std::unique_ptr<kube::BlockingClient> client() const {
    auto made = kube::BlockingClient::make(config());
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text);
    return std::move(*made);
  }

  std::string directory_;
  std::unique_ptr<ResourceApiServer> server_;
};

TEST_F(EmbeddedApi, ServesItsOwnProcessWithoutTlsAndNobodyWithoutAToken) {
  kube::Config own = config();
  own.cluster.server.secure = false;
  own.cluster.dial = [this] { return server_->dial(); };
  own.identity = {};
  own.identity.token = server_->own_token();
  {
    auto api = kube::BlockingClient::make(own);
    ASSERT_TRUE(api.ok()) << api.error().text;
    EXPECT_TRUE((*api)->create(kConfigMaps, "default", config_map("own", "1")).ok());
    EXPECT_TRUE((*api)->get(kConfigMaps, "default", "own").ok());
    EXPECT_TRUE((*api)->remove(kConfigMaps, "default", "own").ok());
  }
  own.identity.token = "another";
  auto stranger = kube::BlockingClient::make(own);
  ASSERT_TRUE(stranger.ok()) << stranger.error().text;
  EXPECT_TRUE((*stranger)->get(kConfigMaps, "default", "own").failure.refused(401));
}

TEST_F(EmbeddedApi, TakesEveryVerb) {
  const auto api = client();
  const kube::Discovery::Found found = api->find("cm");
  ASSERT_TRUE(found.resource.has_value()) << found.failure.text();
  const kube::Resource& maps = *found.resource;
  EXPECT_EQ(maps.plural, "configmaps");
  EXPECT_TRUE(maps.namespaced);

  const auto created = api->create(maps, "default", config_map("a", "1"));
  ASSERT_TRUE(created.ok()) << created.failure.text();
  EXPECT_TRUE(api->create(maps, "default", config_map("a", "1")).failure.already_exists());
  const auto patched = api->patch(maps, "default", "a", PatchType::kMerge, R"({"data":{"w":"2"}})");
  ASSERT_TRUE(patched.ok()) << patched.failure.text();
  // Of a version that is no longer: somebody else was quicker.
  EXPECT_TRUE(api->update(maps, "default", "a", created.object.text).failure.conflict());
  const auto applied = api->patch(maps, "default", "a", PatchType::kApply, config_map("a", "3"), {.force = true});
  ASSERT_TRUE(applied.ok()) << applied.failure.text();
  EXPECT_THAT(applied.object.text, testing::HasSubstr(R"("v":"3")"));
  EXPECT_EQ(applied.object.manager, "edge-controller");
  EXPECT_EQ(api->list_all(maps, {.name_space = "default"}).list.items.size(), 1u);
  EXPECT_TRUE(api->remove(maps, "default", "a", {.uid = "other"}).failure.conflict());
  EXPECT_TRUE(api->remove(maps, "default", "a").ok());
  EXPECT_TRUE(api->get(maps, "default", "a").failure.not_found());
}

TEST_F(EmbeddedApi, ListsInPagesAndWatches) {
  const auto api = client();
  std::string version;
  for (int i = 0; i < 7; ++i) {
    version = api->create(kConfigMaps, "default", config_map("m" + std::to_string(i), "x")).object.resource_version;
  }
  const auto page = api->list(kConfigMaps, {.name_space = "default", .limit = 3});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page.list.items.size(), 3u);
  EXPECT_EQ(page.list.remaining, 4);
  EXPECT_EQ(api->list_all(kConfigMaps, {.name_space = "default", .limit = 3}).list.items.size(), 7u);
  const auto removed = api->remove(kConfigMaps, "default", "m0");
  ASSERT_TRUE(removed.ok());
  std::vector<kube::EventType> types;
  const kube::Failure ended =
      api->watch(kConfigMaps, {.resource_version = version}, net::kNever, [&](const kube::WatchEvent& event) {
        types.push_back(event.type);
        return false;
      });
  EXPECT_TRUE(ended.none()) << ended.text();
  EXPECT_THAT(types, testing::ElementsAre(kube::EventType::kDeleted));
}

TEST_F(EmbeddedApi, RefusesWhomItDoesNotKnow) {
  kube::Config stranger = config();
  stranger.identity = {};
  auto api = kube::BlockingClient::make(stranger);
  ASSERT_TRUE(api.ok());
  EXPECT_TRUE((*api)->get(kConfigMaps, "default", "a").failure.refused(401));
  stranger.identity.token = "guessed";
  api = kube::BlockingClient::make(stranger);
  EXPECT_TRUE((*api)->get(kConfigMaps, "default", "a").failure.refused(401));
}

TEST_F(EmbeddedApi, IsNotBelievedUnderAnotherNameOrAuthority) {
  kube::Config wrong = config();
  wrong.cluster.server_name = "other.example";
  auto api = kube::BlockingClient::make(wrong, {.tries = 0});
  ASSERT_TRUE(api.ok());
  const kube::Failure failure = (*api)->get(kConfigMaps, "default", "a").failure;
  EXPECT_EQ(failure.kind, kube::Failure::Kind::kConnection);
  EXPECT_THAT(failure.text(), testing::HasSubstr("the server's certificate is for another name"));
  wrong = config();
  wrong.cluster.authorities.clear();
  api = kube::BlockingClient::make(wrong, {.tries = 0});
  ASSERT_TRUE(api.ok());
  EXPECT_EQ((*api)->get(kConfigMaps, "default", "a").failure.kind, kube::Failure::Kind::kConnection);
  wrong.cluster.unverified = true;
  api = kube::BlockingClient::make(wrong);
  ASSERT_TRUE(api.ok());
  EXPECT_TRUE((*api)->get(kConfigMaps, "default", "a").failure.not_found());
}

TEST_F(EmbeddedApi, IsAskedForOneObjectAgain) {
  const auto api = client();
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(api->create(kConfigMaps, "default", config_map(name, "x")).ok());
  Bench bench(config());
  std::map<std::string, int> told;
  Informer informer(bench.client(), kConfigMaps, {},
                    {.changed = [&](const kube::Object& object) { ++told[object.key()]; },
                     .removed = {},
                     .synced = {},
                     .connection = {}});
  informer.start();
  ASSERT_TRUE(bench.until([&] { return informer.synced(); }));
  informer.read_again("default", "b");
  ASSERT_TRUE(bench.until([&] { return told["default/b"] == 2; }));
  EXPECT_EQ(told["default/a"] + told["default/c"], 2);
}

/// What a follower knows at the end is what there is, whatever happened to the server on the way.
TEST_F(EmbeddedApi, IsFollowedThroughRestarts) {
  const auto api = client();
  Bench bench(config());
  std::map<std::string, std::string> known;
  std::size_t changes = 0;
  bool connected = false;
  Informer informer(
      bench.client(), kConfigMaps,
      {.page = 100, .first_delay = std::chrono::milliseconds(20), .longest_delay = std::chrono::milliseconds(200)},
      {.changed =
           [&](kube::Object object) {
             ++changes;
             known[object.key()] = object.resource_version;
           },
       .removed = [&](const std::string& key) { known.erase(key); },
       .synced = {},
       .connection = [&](bool up, const kube::Failure&) { connected = up; }});
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(api->create(kConfigMaps, "default", config_map("m" + std::to_string(i), "x")).ok());
  }
  informer.start();
  ASSERT_TRUE(bench.until([&] { return informer.synced(); }));
  EXPECT_EQ(known.size(), 300u);
  const std::uint16_t port = server_->port();
  for (int round = 0; round < 2; ++round) {
    server_.reset();
    ASSERT_TRUE(bench.until([&] { return !connected; }));
    serve(port);
    // While nobody follows, or just when somebody does again.
    ASSERT_TRUE(api->remove(kConfigMaps, "default", "m" + std::to_string(round)).ok());
    ASSERT_TRUE(api->create(kConfigMaps, "default", config_map("n" + std::to_string(round), "x")).ok());
    ASSERT_TRUE(bench.until([&] { return known.contains("default/n" + std::to_string(round)) && connected; }));
  }
  ASSERT_TRUE(bench.until([&] { return !known.contains("default/m1"); }));
  std::map<std::string, std::string> there;
  for (const kube::Object& object : api->list_all(kConfigMaps, {}).list.items) {
    there[object.key()] = object.resource_version;
  }
  EXPECT_EQ(known, there);
  // Nothing was told twice: 300, and two that were new.
  EXPECT_EQ(changes, 302u);
}

TEST_F(EmbeddedApi, ElectsOneLeader) {
  Bench one(config());
  Bench two(config());
  int leaders = 0;
  const auto candidate = [&](Bench& bench, const std::string& name) {
    return std::make_unique<kube::Elector>(
        bench.client(), kube::ElectorOptions{.identity = name, .retry_period = std::chrono::milliseconds(50)},
        kube::ElectorEvents{.elected = [&] { ++leaders; }, .deposed = [&] { --leaders; }, .leader = {}});
  };
  auto first = candidate(one, "one");
  auto second = candidate(two, "two");
  first->start();
  second->start();
  ASSERT_TRUE(one.until([&] {
    two.loop().poll();
    return first->tries() > 2 && second->tries() > 2;
  }));
  EXPECT_EQ(leaders, 1);
  Bench& leading = first->leads() ? one : two;
  Bench& waiting = first->leads() ? two : one;
  kube::Elector& leader = first->leads() ? *first : *second;
  const kube::Elector& other = first->leads() ? *second : *first;
  leading.get<bool>([&](net::Waiter& waiter) -> net::Task<bool> {
    co_await leader.stop(waiter);
    co_return true;
  });
  ASSERT_TRUE(waiting.until([&] { return other.leads(); }));
  EXPECT_EQ(leaders, 1);
}

TEST_F(EmbeddedApi, TakesEvents) {
  Bench bench(config());
  kube::Recorder recorder(bench.client());
  for (int i = 1; i <= 3; ++i) {
    recorder.record({.api_version = "edgeproxy.io/v1alpha1",
                     .kind = "ProxyRoute",
                     .name_space = "default",
                     .name = "r",
                     .uid = "u"},
                    kube::EventLevel::kWarning, "Rejected", "no backend");
    ASSERT_TRUE(bench.until([&] { return recorder.sent() + recorder.dropped() == static_cast<std::uint64_t>(i); }));
  }
  EXPECT_EQ(recorder.dropped(), 0u);
  const auto api = client();
  const kube::Resource events{.group = "", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
  const auto list = api->list_all(events, {.name_space = "default", .field_selector = "involvedObject.name=r"});
  ASSERT_TRUE(list.ok()) << list.failure.text();
  ASSERT_EQ(list.list.items.size(), 1u);
  EXPECT_THAT(list.list.items[0].text, testing::HasSubstr(R"("count":3)"));
}

}  // namespace
}  // namespace edge::test
