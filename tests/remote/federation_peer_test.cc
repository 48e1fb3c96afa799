// A cluster's federation, with its API and its state on disk, against peers that are played: frames as another version
// would send them, as nobody should, and more than anybody may.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/federation/run/federation.h"
#include "controller/federation/test_clusters.h"
#include "controller/kube/blocking_client.h"
#include "controller/kube/recorder.h"
#include "controller/resource_api/http/resource_api_server.h"

namespace edge::federation {
namespace {

using namespace std::chrono_literals;
using controller::remote::TunnelPeer;
using controller::remote::Tunnels;
using testing::AnyOf;
using testing::HasSubstr;

constexpr auto kPatience = 60s;
constexpr const char* kHub = "hub-uid";
const kube::Resource kBackends{.group = EDGE_API_GROUP,
                               .version = "v1alpha1",
                               .plural = "proxybackends",
                               .kind = "ProxyBackend",
                               .namespaced = true};
/// Field 99 of any message, of a later schema.
const std::string kLater("\x98\x06\x01", 3);

ObjectKey backend_key(const std::string& name) { return {"ProxyBackend", "default", name}; }

std::string backend(const std::string& name, const std::string& address, const std::string& more = {}) {
  return R"({"apiVersion":")" EDGE_API_GROUP R"(/v1alpha1","kind":"ProxyBackend","metadata":{"name":")" + name +
         R"(","namespace":"default"},"spec":{"endpoints":[{"address":")" + address + "\"}]" + more + "}}";
}

/// What happens elsewhere is waited for.
template <typename Condition>
bool comes(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// The end of a tunnel that a test has: it says what it is told to.
class PlayedPeer final : public controller::remote::FrameStream {
 public:
  bool send(std::string frame) override {
    const std::lock_guard lock(mutex_);
    auto decoded = decode_frame(frame);
    EXPECT_TRUE(decoded.ok());
    if (decoded) heard_.push_back(std::move(*decoded));
    changed_.notify_all();
    return true;
  }
  void end(const Error& why) override {
    const std::lock_guard lock(mutex_);
    ended_ = why;
    changed_.notify_all();
  }
  /// Null: it does not come.
  template <typename Body>
  const Body* hear(const std::function<bool(const Body&)>& which) {
    std::unique_lock lock(mutex_);
    const Body* found = nullptr;
    changed_.wait_for(lock, kPatience, [&] {
      for (const Frame& frame : heard_) {
        const Body* const body = std::get_if<Body>(&frame.body);
        if (body != nullptr && which(*body)) found = body;
      }
      return found != nullptr;
    });
    return found;
  }
  std::string await_end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return ended_.has_value(); });
    return ended_ ? ended_->text : "it did not end";
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Frame> heard_;
  std::optional<Error> ended_;
};

class FederationPeer : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "federation.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    auto started = resource_api::http::ResourceApiServer::start({.data_dir = directory_ + "/api"});
    ASSERT_TRUE(started.ok()) << started.error().text;
    api_ = std::move(*started);
    kube::ConfigSources sources;
    sources.kubeconfig = api_->kubeconfig();
    auto config = kube::Config::resolve(sources);
    ASSERT_TRUE(config.ok());
    auto client = kube::BlockingClient::make(*config);
    ASSERT_TRUE(client.ok());
    client_ = std::move(*client);
    config_ = std::move(*config);
    start();
  }
  /// With a clock that is off by this.
  void start(std::chrono::milliseconds off = {}) {
    const auto clock = [off] {
      const auto now = std::chrono::system_clock::now().time_since_epoch() + off;
      return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    };
    federation_ = std::make_unique<Federation>(FederationOptions{.data_dir = directory_,
                                                                 .cluster_uid = kHub,
                                                                 .key = key_,
                                                                 .config = config_,
                                                                 .tunnels = &tunnels_,
                                                                 .leads = {},
                                                                 .clock = clock});
  }
  void TearDown() override {
    federation_.reset();
    client_.reset();
    api_.reset();
    std::filesystem::remove_all(directory_);
  }

  static PeerSpec spoke_spec() {
    const Scope backends{.kinds = {"ProxyBackend"}};
    PeerSpec spec;
    spec.object = "default/berlin";
    spec.name = "berlin";
    spec.enabled = true;
    spec.reads = spec.shares = backends;
    return spec;
  }

  /// Once the federation takes peers.
  std::shared_ptr<PlayedPeer> connect(const TunnelPeer& peer) {
    auto stream = std::make_shared<PlayedPeer>();
    EXPECT_TRUE(comes([&] { return tunnels_.is_wanted(); }));
    EXPECT_TRUE(tunnels_.enter(peer, stream).ok());
    numbers_[peer.cluster_uid] = 0;
    return stream;
  }
  void say_bytes(const PlayedPeer& from, const std::string& cluster, std::string bytes) {
    tunnels_.take(from, cluster, std::move(bytes), [](const Status&) {});
  }
  void say(const PlayedPeer& from, const TestCluster& cluster, auto body) {
    say_bytes(from, cluster.uid, encode({++numbers_[cluster.uid], std::move(body)}) + after_);
  }
  void greet(const PlayedPeer& from, const TestCluster& cluster, std::uint32_t policy = 0) {
    say(from, cluster,
        Hello{.protocol = protocol_,
              .replica = cluster.replica.id(),
              .lives = cluster.replica.lives(),
              .memory = {},
              .offers = {},
              .accepts = {},
              .policy = policy,
              .public_key = cluster.key.public_pem()});
    say(from, cluster, Resume{});
  }
  /// The spoke `berlin`, greeted.
  std::shared_ptr<PlayedPeer> berlin(const PeerSpec& spec = spoke_spec()) {
    federation_->set_peers({spec});
    auto stream = connect({"berlin", berlin_.uid, /*is_hub=*/false});
    greet(*stream, berlin_);
    EXPECT_NE(stream->hear<Resume>([](const Resume&) { return true; }), nullptr);
    return stream;
  }
  /// What the peer is told of a version that it sends.
  Refusal answer_to(PlayedPeer& from, Version version) {
    const NamedDot sent{version.key, version.dot};
    say(from, berlin_, Delta{.versions = {std::make_shared<Version>(std::move(version))}, .through = ++through_});
    const std::uint64_t through = through_;
    const Ack* const ack = from.hear<Ack>([&](const Ack& one) { return one.through == through; });
    if (ack == nullptr) {
      ADD_FAILURE() << "no acknowledgement";
      return Refusal::kNone;
    }
    return ack->refusals.empty() ? Refusal::kNone : ack->refusals[0].reason;
  }
  VersionPtr written(const std::string& name, const std::string& content) {
    auto version = berlin_.replica.write(backend_key(name), content, kTestTime);
    EXPECT_TRUE(version.ok());
    return *version;
  }
  std::string address(const std::string& name) {
    const kube::ObjectReply reply = client_->get(kBackends, "default", name);
    if (!reply.ok()) return {};
    return nlohmann::json::parse(reply.object.text)["spec"]["endpoints"][0]["address"];
  }
  std::uint64_t refused_total() {
    const auto peers = federation_->view().peers();
    std::uint64_t total = 0;
    if (peers && !peers->empty()) {
      for (const RefusedView& one : peers->front().refused) total += one.count;
    }
    return total;
  }

  std::string directory_;
  std::unique_ptr<resource_api::http::ResourceApiServer> api_;
  std::unique_ptr<kube::BlockingClient> client_;
  kube::Config config_;
  const program::SigningKey key_ = program::SigningKey::generate().value();
  Tunnels tunnels_;
  std::unique_ptr<Federation> federation_;
  TestCluster berlin_{"berlin-uid", {}};
  std::map<std::string, std::uint64_t> numbers_;
  std::uint64_t through_ = 0;
  std::uint32_t protocol_ = kProtocol;
  std::string after_;  ///< each frame
};

TEST_F(FederationPeer, WhatASpokeForgesIsRefusedAndSeen) {
  ASSERT_TRUE(client_->create(kBackends, "default", backend("cart", "198.51.100.1:80")).ok());
  const auto spoke = berlin();
  const Delta* const delta = spoke->hear<Delta>([](const Delta& one) { return !one.versions.empty(); });
  ASSERT_NE(delta, nullptr);
  const VersionPtr genuine = delta->versions[0];
  ASSERT_EQ(genuine->dot.replica.cluster, kHub);

  const auto of_berlin = [&](const ObjectKey& key) {
    Version version;
    version.key = key;
    version.dot = {berlin_.replica.id(), ++through_ + 1000};
    version.past.add(version.dot);
    version.time = version.rank = genuine->time + 1;
    version.rank_cluster = version.origin = berlin_.uid;
    version.content = backend(key.name, "203.0.113.9:80");
    return version;
  };
  const auto sign = [&](Version& version) { ASSERT_TRUE(sign_version(version, berlin_.keys->signatures()).ok()); };
  // An entry of the hub's clock that the hub has not written: the proof is of another one.
  Version entry = of_berlin(genuine->key);
  entry.past.add(genuine->dot.replica, {1, genuine->dot.counter + 5});
  entry.proofs[genuine->dot.replica] = proof_of(*genuine);
  entry.proofs[genuine->dot.replica].counter += 5;
  sign(entry);
  EXPECT_EQ(answer_to(*spoke, entry), Refusal::kSignature);
  // A version in the hub's name.
  Version name = of_berlin(backend_key("named"));
  name.dot = {genuine->dot.replica, genuine->dot.counter + 1};
  name.past = {};
  name.past.add(name.dot);
  name.rank_cluster = name.origin = kHub;
  sign(name);
  EXPECT_EQ(answer_to(*spoke, name), Refusal::kSignature);
  // The hub's object as its own, over a version that it has seen; and a kind that it was not granted.
  Version taken = of_berlin(genuine->key);
  taken.past.add(genuine->dot);
  taken.proofs[genuine->dot.replica] = proof_of(*genuine);
  sign(taken);
  EXPECT_EQ(answer_to(*spoke, taken), Refusal::kNotItsOwn);
  Version secret = of_berlin({"Secret", "default", "key"});
  sign(secret);
  EXPECT_EQ(answer_to(*spoke, secret), Refusal::kNotGranted);

  EXPECT_EQ(address("cart"), "198.51.100.1:80");
  EXPECT_EQ(address("named"), "");
  EXPECT_EQ(refused_total(), 4U);
  EXPECT_TRUE(comes([&] {
    const auto statuses = federation_->statuses();
    const auto found = statuses.find("default/berlin");
    return found != statuses.end() && found->second.refused == 4;
  }));
  // By an event of each object.
  std::set<std::string> told;
  EXPECT_TRUE(comes([&] {
    const auto events = client_->list(kube::event_resource(), {});
    if (!events.ok()) return false;
    for (const kube::Object& event : events.list.items) {
      const nlohmann::json json = nlohmann::json::parse(event.text);
      if (json.value("reason", "") != "FederationRefused") continue;
      EXPECT_THAT(json.value(json.contains("note") ? "note" : "message", ""),
                  HasSubstr("a version that berlin sent is not taken"));
      const char* const member = json.contains("regarding") ? "regarding" : "involvedObject";
      told.insert(json[member].value("name", ""));
    }
    return told == std::set<std::string>{"cart", "named", "key"};
  })) << testing::PrintToString(told);
}

TEST_F(FederationPeer, WhoFloodsHasAsMuchAsItsQuotaAndNoMore) {
  PeerSpec spec = spoke_spec();
  spec.quota.objects = 3;
  const auto spoke = berlin(spec);
  std::size_t refused = 0;
  for (int i = 0; i < 10; ++i) {
    const Refusal answer =
        answer_to(*spoke, *written("b-" + std::to_string(i), backend("b-" + std::to_string(i), "198.51.100.1:80")));
    EXPECT_THAT(answer, AnyOf(Refusal::kNone, Refusal::kQuota));
    refused += answer == Refusal::kQuota;
  }
  EXPECT_EQ(refused, 7U);
  EXPECT_EQ(refused_total(), 7U);
  EXPECT_EQ(federation_->view().status()->objects, 3U);
  // Frames beyond all bounds end the connection.
  say_bytes(*spoke, berlin_.uid, std::string(3 << 20, 'x'));
  EXPECT_THAT(spoke->await_end(), HasSubstr("a frame that cannot be read"));
  EXPECT_EQ(federation_->view().status()->objects, 3U);
}

TEST_F(FederationPeer, AUidWithAnotherKeyIsSomebodyElse) {
  const auto spoke = berlin();
  TestCluster thief(berlin_.uid, {});
  const auto second = connect({"berlin", thief.uid, /*is_hub=*/false});
  greet(*second, thief);
  EXPECT_THAT(second->await_end(), HasSubstr("signs with another key than before"));
}

TEST_F(FederationPeer, AClusterThatIsRenamedIsToldItsName) {
  const auto spoke = berlin();
  PeerSpec munich = spoke_spec();
  munich.name = "munich";
  munich.object = "default/munich";
  federation_->set_peers({munich});
  EXPECT_THAT(spoke->await_end(), HasSubstr("not federated with any more"));
  const auto renamed = connect({"munich", berlin_.uid, /*is_hub=*/false});
  EXPECT_THAT(renamed->await_end(),
              HasSubstr("the UID is that of the cluster berlin, and federates by that name alone"));
}

/// Each start without its data directory is another cluster.
TEST_F(FederationPeer, ANameIsThatOfEightClusters) {
  const auto spoke = berlin();
  for (int i = 1; i < 8; ++i) {
    TestCluster next("berlin-uid-" + std::to_string(i), {});
    const auto stream = connect({"berlin", next.uid, /*is_hub=*/false});
    greet(*stream, next);
    EXPECT_NE(stream->hear<Resume>([](const Resume&) { return true; }), nullptr) << i;
  }
  TestCluster last("berlin-uid-8", {});
  const auto refused = connect({"berlin", last.uid, /*is_hub=*/false});
  greet(*refused, last);
  EXPECT_THAT(refused->await_end(),
              HasSubstr("the name was that of eight other clusters before: add the cluster by another"));
}

// By the clock the hub is away for an hour, or comes back a day before it went. The spoke, and whoever uses the hub's
// API, change the same object meanwhile.
class FederationAway : public FederationPeer, public testing::WithParamInterface<std::chrono::hours> {};

TEST_P(FederationAway, BothChangesAreKeptAndTheOlderWins) {
  PeerSpec spec = spoke_spec();
  spec.writes = spec.shares;
  ASSERT_TRUE(client_->create(kBackends, "default", backend("cart", "198.51.100.1:80")).ok());
  const auto before = berlin(spec);
  const Delta* const delta = before->hear<Delta>([](const Delta& one) { return !one.versions.empty(); });
  ASSERT_NE(delta, nullptr);
  const VersionPtr first = delta->versions[0];
  say(*before, berlin_, Ack{.through = delta->through});
  ASSERT_TRUE(comes([&] { return federation_->view().peers()->front().lag_versions == 0; }));
  federation_.reset();

  ASSERT_TRUE(client_
                  ->patch(kBackends, "default", "cart", kube::PatchType::kMerge,
                          R"({"spec":{"endpoints":[{"address":"198.51.100.2:80"}]}})")
                  .ok());
  berlin_.replica.add_member({.cluster = kHub, .public_key = key_.public_pem()});
  ASSERT_TRUE(berlin_.keys->add(kHub, key_.public_pem()).ok());
  berlin_.replica.set_peer(kHub, {.hub = true});
  ASSERT_EQ(berlin_.replica.receive(first, kHub).refusal, Refusal::kNone);
  const VersionPtr theirs = written("cart", backend("cart", "198.51.100.3:80"));

  start(GetParam());
  const auto after = berlin(spec);
  EXPECT_EQ(answer_to(*after, *theirs), Refusal::kNone);
  const auto is_new = [&](const VersionPtr& one) { return one->dot.replica.cluster == kHub && one->dot != first->dot; };
  const Delta* const said =
      after->hear<Delta>([&](const Delta& one) { return std::ranges::any_of(one.versions, is_new); });
  ASSERT_NE(said, nullptr);
  const Version& own = **std::ranges::find_if(said->versions, is_new);
  // Later than what it is over, whatever the clock says, and in a life of its own.
  EXPECT_GT(own.time, first->time);
  EXPECT_GT(own.dot.replica.incarnation, first->dot.replica.incarnation);
  EXPECT_TRUE(own.past.contains(first->dot));
  EXPECT_FALSE(own.past.contains(theirs->dot));
  const bool spoke_wins = theirs->time < own.time;
  const auto address_of = [](const VersionView& version) -> std::string {
    return nlohmann::json::parse(version.content)["spec"]["endpoints"][0]["address"];
  };
  std::string winner;
  std::string loser;
  EXPECT_TRUE(comes([&] {
    const auto conflicts = federation_->view().conflicts({.contents = true});
    if (!conflicts || conflicts->items.size() != 1 || conflicts->items[0].losers.size() != 1) return false;
    winner = address_of(conflicts->items[0].winner);
    loser = address_of(conflicts->items[0].losers[0]);
    return true;
  }));
  EXPECT_EQ(winner, spoke_wins ? "198.51.100.3:80" : "198.51.100.2:80");
  EXPECT_EQ(loser, spoke_wins ? "198.51.100.2:80" : "198.51.100.3:80");
  EXPECT_TRUE(comes([&] { return address("cart") == winner; }));
}

INSTANTIATE_TEST_SUITE_P(Clocks, FederationAway, testing::Values(std::chrono::hours(1), std::chrono::hours(-24)));

// A peer of a later version: fields that nobody here knows, in each frame, in what is signed, and in the object.
TEST_F(FederationPeer, WhatALaterVersionSaysStays) {
  protocol_ = kProtocol + 7;
  after_ = kLater;
  const auto spoke = berlin([] {
    PeerSpec spec = spoke_spec();
    spec.writes = spec.shares;
    return spec;
  }());
  Version later = *written("cart", backend("cart", "198.51.100.1:80", R"(,"later":{"deep":[1]})"));
  later.statement += kLater;
  later.signature = *berlin_.key.sign_message("edge federation version", signed_text(later));
  EXPECT_EQ(answer_to(*spoke, later), Refusal::kNone);
  ASSERT_TRUE(comes([&] { return address("cart") == "198.51.100.1:80"; }));
  // A change here, by an API that may have dropped what it does not know, goes back with it.
  ASSERT_TRUE(client_
                  ->patch(kBackends, "default", "cart", kube::PatchType::kMerge,
                          R"({"spec":{"endpoints":[{"address":"198.51.100.2:80"}]}})")
                  .ok());
  const Delta* const back = spoke->hear<Delta>([](const Delta& one) { return !one.versions.empty(); });
  ASSERT_NE(back, nullptr);
  const nlohmann::json content = nlohmann::json::parse(back->versions[0]->content);
  EXPECT_EQ(content["spec"]["endpoints"][0]["address"], "198.51.100.2:80");
  EXPECT_EQ(content["spec"]["later"]["deep"][0], 1);
  EXPECT_TRUE(back->versions[0]->past.contains(later.dot));
  EXPECT_EQ(back->versions[0]->proofs.at(later.dot.replica), proof_of(later));
}

// And of an earlier one, which leaves out what it does not know.
TEST_F(FederationPeer, WhatAnEarlierVersionLeavesOutHasAMeaning) {
  federation_->set_peers({spoke_spec()});
  const auto spoke = connect({"berlin", berlin_.uid, /*is_hub=*/false});
  // Neither offers nor accepts nor a memory: all but Secrets, and nothing is remembered.
  greet(*spoke, berlin_);
  EXPECT_EQ(answer_to(*spoke, *written("cart", backend("cart", "198.51.100.1:80"))), Refusal::kNone);
  EXPECT_TRUE(comes([&] { return address("cart") == "198.51.100.1:80"; }));
}

TEST_F(FederationPeer, ASpokeFederatesOverOneOfTwoHubs) {
  TestCluster first("first-uid", {});
  TestCluster second("second-uid", {});
  const auto hub_of = [](const std::string& name, const std::string& created) {
    PeerSpec spec = hub_spec(name + ":9090", {"ProxyBackend"}, {});
    spec.object = "default/" + name;
    spec.created = created;
    return spec;
  };
  const PeerSpec of_first = hub_of("first", "2026-01-01T00:00:00Z");
  const PeerSpec of_second = hub_of("second", "2026-02-01T00:00:00Z");
  federation_->set_peers({of_second, of_first});
  const auto to_second = connect({"second:9090", second.uid, /*is_hub=*/true});
  const auto to_first = connect({"first:9090", first.uid, /*is_hub=*/true});
  greet(*to_second, second, /*policy=*/1 + static_cast<std::uint32_t>(ConflictPolicy::kHubWins));
  greet(*to_first, first, /*policy=*/1 + static_cast<std::uint32_t>(ConflictPolicy::kNewestWins));
  ASSERT_NE(to_first->hear<Resume>([](const Resume&) { return true; }), nullptr);
  EXPECT_TRUE(comes([&] {
    const auto statuses = federation_->statuses();
    const auto found = statuses.find("default/second");
    return found != statuses.end() && found->second.reason == "AnotherHub";
  }));
  EXPECT_EQ(federation_->view().status()->policy, "NewestWins");
  // When the first is none any more, the second is.
  federation_->set_peers({of_second});
  EXPECT_NE(to_second->hear<Resume>([](const Resume&) { return true; }), nullptr);
  EXPECT_TRUE(comes([&] {
    const auto status = federation_->view().status();
    return status.ok() && status->policy == "HubWins" && status->hub == second.uid;
  }));
}

}  // namespace
}  // namespace edge::federation
