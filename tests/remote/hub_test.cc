// A hub's port over gRPC against spokes that are real, and such that are hostile.
#include "controller/distribute/hub.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"
#include "controller/authority/remote_identity.h"
#include "controller/distribute/distributor.h"
#include "controller/remote/hub_stream.h"
#include "controller/remote/remote_clusters.h"
#include "controller/remote/remote_service.h"
#include "controller/remote/spoke.h"
#include "controller/remote/spoke_questions.h"
#include "controller/remote/spoke_reads.h"
#include "net/tls/identity.h"

namespace edge::controller::remote {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;

constexpr auto kPatience = 30s;
constexpr Heartbeat kHeartbeat{200ms, 20s};
constexpr Heartbeat kShortHeartbeat{100ms, 1s};
/// A spoke that says more than the hub reads cuts its call off itself, which carries no reason.
constexpr ErrorCode kCutOff = ErrorCode::kCancelled;
const std::string kHubUid(32, 'a');
const std::string kSpokeUid(32, 'b');

template <typename Condition>
bool comes(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

/// A hostile spoke: says what the test wants, and keeps how it ended.
class Caller {
 public:
  explicit Caller(const RemoteIdentity& identity) : channel_(identity) {
    EXPECT_TRUE(channel_.await([] { return false; }));
    channel_.open({.heard =
                       [this](const Word& word) {
                         const std::lock_guard lock(mutex_);
                         welcomed_ = welcomed_ || std::holds_alternative<Hello>(word);
                         changed_.notify_all();
                       },
                   .ended =
                       [this](const Error& why) {
                         const std::lock_guard lock(mutex_);
                         ended_ = why;
                         changed_.notify_all();
                       }});
  }
  ~Caller() { channel_.close(); }
  void say(const std::vector<Word>& words) { channel_.say(words); }
  void greet(const std::string& uid = kSpokeUid) { say({Hello{.cluster_uid = uid, .version = "1.0.0"}}); }
  bool welcomed() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [this] { return welcomed_ || ended_; });
    return welcomed_;
  }
  std::optional<Error> ended() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [this] { return ended_.has_value(); });
    return ended_;
  }
  bool is_open() {
    const std::lock_guard lock(mutex_);
    return !ended_;
  }
  Result<HubChannel::Renewed> renew(const std::string& request) { return channel_.renew(request); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool welcomed_ = false;
  std::optional<Error> ended_;
  HubChannel channel_;
};

class HubTest : public testing::Test {
 protected:
  HubTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hub.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = directory_;
    options.further = [this](Hub& hub) -> std::vector<std::shared_ptr<grpc::Service>> {
      authority_ = &hub.authority();
      clusters_.set_authority(*authority_);
      return {make_remote_service(clusters_, tunnels_, questions_, *authority_)};
    };
    auto started = Distributor::start(std::move(options));
    EXPECT_TRUE(started) << started.error().text;
    if (started) distributor_ = std::move(*started);
    put();
    clusters_.synced();
  }
  ~HubTest() override {
    clusters_.stop();
    distributor_.reset();
    std::filesystem::remove_all(directory_);
  }

  void put(bool suspended = false, const std::string& space = "default", const std::string& created = "2026") {
    clusters_.put(space, "berlin", {.heartbeat = kHeartbeat, .suspended = suspended, .created = created});
  }
  RemoteIdentity invite() {
    const auto pair = authority_->invite_remote("berlin", std::chrono::hours(1));
    EXPECT_TRUE(pair);
    const auto facts = read_certificate(pair->certificate);
    return {.hub = distributor_->address(),
            .cluster = "berlin",
            .certificate = pair->certificate,
            .key = pair->key,
            .authorities = authority_->roots(),
            .validity = facts->validity};
  }
  Result<std::unique_ptr<Spoke>> spoke(const RemoteIdentity& identity, Tunnels* tunnels = nullptr,
                                       std::function<AgentAnswer(const AgentQuestion&)> answer = {}) {
    const std::string file = directory_ + "/join";
    EXPECT_TRUE(write_file(file, std::string_view(text_of(identity)), FileAccess::kOwnerOnly));
    std::filesystem::create_directories(directory_ + "/spoke");
    SpokeOptions options;
    options.join_file = file;
    options.data_dir = directory_ + "/spoke";
    options.cluster_uid = kSpokeUid;
    options.version = "1.0.0";
    options.own = [] { return Report{2, 2, std::string(64, 'c'), 0ms}; };
    options.tunnels = tunnels;
    options.answer = std::move(answer);
    return Spoke::start(std::move(options));
  }
  RemoteView view(const std::string& name = "default/berlin") const {
    const RemoteViews views = clusters_.views();
    const auto found = views.find(name);
    return found == views.end() ? RemoteView{} : found->second;
  }
  /// Asks what an administrator of the hub asks, and waits.
  Result<AgentAnswer> ask(const std::string& target) {
    std::promise<Result<AgentAnswer>> answered;
    auto waits = answered.get_future();
    questions_.ask(clusters_.views(), {"GET", target},
                   [&](Result<AgentAnswer> answer) { answered.set_value(std::move(answer)); });
    return waits.get();
  }
  bool reaches(Phase phase) const {
    return comes([&] { return view().phase.phase == phase; });
  }

  std::string directory_;
  Tunnels tunnels_;
  SpokeQuestions questions_;
  Authority* authority_ = nullptr;
  RemoteClusters clusters_{{.cluster_uid = kHubUid, .version = "2.0.0"}};
  std::unique_ptr<Distributor> distributor_;
};

TEST_F(HubTest, BothSidesAreConnectedAndKnowOfEachOther) {
  auto started = spoke(invite());
  ASSERT_TRUE(started) << started.error().text;
  ASSERT_TRUE(reaches(Phase::kConnected)) << view().phase.message;
  EXPECT_EQ(view().version, "1.0.0");
  EXPECT_EQ(view().cluster_uid, kSpokeUid);
  EXPECT_TRUE(comes([&] { return view().report.has_value() && view().report->agents == 2; }));
  EXPECT_TRUE(comes([&] { return (*started)->view().phase.phase == Phase::kConnected; }));
  EXPECT_EQ((*started)->view().version, "2.0.0");
  EXPECT_EQ((*started)->view().cluster_uid, kHubUid);
  // The certificate was renewed before: it lasts a month, not an hour.
  EXPECT_GT(view().certificate_until, std::chrono::system_clock::now() + std::chrono::hours(24 * 29));
  started->reset();
  EXPECT_TRUE(reaches(Phase::kDisconnected));
  EXPECT_EQ(view().phase.message, "the cluster's controller has ended");
}

TEST_F(HubTest, AFloodEndsTheConnectionAndNothingElse) {
  const RemoteIdentity identity = invite();
  Caller flood(identity);
  flood.greet();
  ASSERT_TRUE(flood.welcomed());
  while (flood.is_open()) flood.say({Probe{1, 0}});
  EXPECT_THAT(flood.ended()->code, AnyOf(ErrorCode::kResourceExhausted, kCutOff));
  // One that connects again and again is let in now and then.
  const auto began = std::chrono::steady_clock::now();
  int let_in = 0;
  for (int i = 0; i < 20; ++i) {
    Caller again(identity);
    again.greet();
    if (again.welcomed()) {
      ++let_in;
    } else {
      EXPECT_EQ(again.ended()->code, ErrorCode::kResourceExhausted);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(let_in, 5 + took.count() + 1);
}

TEST_F(HubTest, WhatIsNoHelloIsRefused) {
  const RemoteIdentity identity = invite();
  Caller silent(identity);
  silent.say({Probe{1, 0}});
  EXPECT_EQ(silent.ended()->code, ErrorCode::kInvalidArgument);
  Caller nameless(identity);
  nameless.greet("no hex");
  EXPECT_EQ(nameless.ended()->code, ErrorCode::kInvalidArgument);
  Caller twice(identity);
  twice.greet();
  ASSERT_TRUE(twice.welcomed());
  twice.greet();
  EXPECT_EQ(twice.ended()->code, ErrorCode::kInvalidArgument);
}

TEST_F(HubTest, AClusterThatIsTheHubItselfIsRefused) {
  Caller caller(invite());
  caller.greet(kHubUid);
  EXPECT_EQ(caller.ended()->code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(view().phase.phase, Phase::kFailed);
  EXPECT_EQ(view().phase.reason, "ProtocolRefused");
}

TEST_F(HubTest, AnotherClusterByTheSameCertificateDoesNotTakeTheNameOver) {
  const RemoteIdentity identity = invite();
  Caller first(identity);
  first.greet();
  ASSERT_TRUE(first.welcomed());
  Caller second(identity);
  second.greet(std::string(32, 'd'));
  EXPECT_EQ(second.ended()->code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(first.is_open());
  // The same one, which has lost its connection without a word, is let in at once.
  Caller again(identity);
  again.greet();
  EXPECT_TRUE(again.welcomed());
  EXPECT_EQ(first.ended()->code, ErrorCode::kAborted);
}

TEST_F(HubTest, RevokingEndsTheConnection) {
  const RemoteIdentity identity = invite();
  Caller caller(identity);
  caller.greet();
  ASSERT_TRUE(caller.welcomed());
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_EQ(caller.ended()->code, ErrorCode::kUnauthenticated);
  EXPECT_TRUE(reaches(Phase::kFailed));
  Caller later(identity);
  EXPECT_EQ(later.ended()->code, ErrorCode::kUnauthenticated);
}

/// Another controller of the hub was asked, and the object says so. Of two objects with a name the one that holds it.
TEST_F(HubTest, WhatAnotherControllerRevokedIsRefused) {
  const RemoteIdentity identity = invite();
  Caller caller(identity);
  caller.greet();
  ASSERT_TRUE(caller.welcomed());
  const auto before = authority_->remote_revoked_until("berlin");
  const auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
  clusters_.put("stranger", "berlin", {.heartbeat = kHeartbeat, .created = "2027", .revoked_before = later});
  EXPECT_TRUE(caller.is_open());
  EXPECT_EQ(authority_->remote_revoked_until("berlin"), before);
  clusters_.put("default", "berlin", {.heartbeat = kHeartbeat, .created = "2026", .revoked_before = later});
  EXPECT_EQ(caller.ended()->code, ErrorCode::kUnauthenticated);
  Caller again(identity);
  EXPECT_EQ(again.ended()->code, ErrorCode::kUnauthenticated);
  Caller invited(invite());
  invited.greet();
  EXPECT_TRUE(invited.welcomed());
}

/// An object is put again with every edit of another one, and holds the name from when the one before it is gone.
TEST_F(HubTest, WhatAnObjectSaysHoldsFromWhenItHoldsTheName) {
  const RemoteIdentity identity = invite();
  Caller caller(identity);
  caller.greet();
  ASSERT_TRUE(caller.welcomed());
  const auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
  const RemoteSpec next{.heartbeat = kHeartbeat, .created = "2027", .revoked_before = later};
  clusters_.put("next", "berlin", next);
  clusters_.remove("nowhere", "berlin");
  EXPECT_TRUE(caller.is_open());
  clusters_.remove("default", "berlin");
  EXPECT_EQ(caller.ended()->code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(authority_->remote_revoked_until("berlin"), later);
  const std::string file = directory_ + "/agents/revoked";
  ASSERT_TRUE(std::filesystem::remove(file));
  const auto changes = clusters_.changes();
  clusters_.put("next", "berlin", next);
  EXPECT_EQ(clusters_.changes(), changes);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(HubTest, SuspendedAndDeletedClustersAreKeptOut) {
  const RemoteIdentity identity = invite();
  Caller caller(identity);
  caller.greet();
  ASSERT_TRUE(caller.welcomed());
  put(/*suspended=*/true);
  EXPECT_EQ(caller.ended()->code, ErrorCode::kUnavailable);
  EXPECT_TRUE(reaches(Phase::kDisconnected));
  Caller kept_out(identity);
  kept_out.greet();
  EXPECT_EQ(kept_out.ended()->code, ErrorCode::kUnavailable);
  clusters_.remove("default", "berlin");
  Caller unknown(identity);
  unknown.greet();
  EXPECT_EQ(unknown.ended()->code, ErrorCode::kNotFound);
}

// What a cluster exports is said once a connection: one that outlived it would leave the hub without.
TEST_F(HubTest, AShortSuspensionEndsTheConnection) {
  const RemoteIdentity identity = invite();
  Caller caller(identity);
  caller.greet();
  ASSERT_TRUE(caller.welcomed());
  put(/*suspended=*/true);
  put(/*suspended=*/false);
  EXPECT_EQ(caller.ended()->code, ErrorCode::kUnavailable);
  Caller again(identity);
  again.greet();
  EXPECT_TRUE(again.welcomed());
}

TEST_F(HubTest, AnAgentsCertificateIsNoClusters) {
  const auto key = net::tls::make_private_key();
  ASSERT_TRUE(key);
  const auto certificate = authority_->sign("edge-1", *net::tls::certificate_request(*key));
  ASSERT_TRUE(certificate);
  RemoteIdentity identity = invite();
  identity.certificate = *certificate;
  identity.key = *key;
  Caller caller(identity);
  EXPECT_EQ(caller.ended()->code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(caller.renew(*net::tls::certificate_request(*key)).error().code, ErrorCode::kPermissionDenied);
}

TEST_F(HubTest, ASilentClusterIsGivenUpAtItsTimeout) {
  clusters_.put("default", "berlin", {.heartbeat = kShortHeartbeat, .created = "2026"});
  Caller caller(invite());
  caller.greet();
  ASSERT_TRUE(caller.welcomed());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(caller.ended()->code, ErrorCode::kDeadlineExceeded);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, kShortHeartbeat.timeout - 200ms);
  EXPECT_LE(took, kHeartbeat.timeout / 2);
}

TEST_F(HubTest, OfTwoObjectsOfOneNameTheOlderHoldsIt) {
  put(false, "other", "2020");
  EXPECT_EQ(view("other/berlin").phase.phase, Phase::kPending);
  EXPECT_EQ(view().phase, (PhaseView{Phase::kFailed, "Conflicted", "EdgeRemoteCluster other/berlin has the name"}));
  clusters_.remove("other", "berlin");
  EXPECT_EQ(view().phase.phase, Phase::kPending);
}

/// One side of a tunnel: keeps the frames that come, and their ends where it is told to.
struct TunnelSide {
  explicit TunnelSide(Tunnels& over) : tunnels(over) {
    TunnelEvents events;
    events.opened = [this](const TunnelPeer& opened) {
      const std::lock_guard lock(mutex);
      peer = opened;
    };
    events.closed = [this](const std::string&) {
      const std::lock_guard lock(mutex);
      peer.reset();
    };
    events.received = [this](const std::string&, std::string frame, std::function<void(Status)> done) {
      {
        const std::lock_guard lock(mutex);
        frames.push_back(std::move(frame));
        if (holds) {
          held = std::move(done);
          return;
        }
      }
      done({});
    };
    tunnels.set_events(std::move(events));
  }
  ~TunnelSide() { tunnels.set_events({}); }
  std::optional<TunnelPeer> open() {
    const std::lock_guard lock(mutex);
    return peer;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return frames.size();
  }

  Tunnels& tunnels;
  std::mutex mutex;
  std::optional<TunnelPeer> peer;
  std::vector<std::string> frames;
  bool holds = false;
  std::function<void(Status)> held;
};

TEST_F(HubTest, FramesGoBothWaysInOrderAndWaitForWhoTakesThem) {
  TunnelSide hub(tunnels_);
  Tunnels of_spoke;
  TunnelSide side(of_spoke);
  auto started = spoke(invite(), &of_spoke);
  ASSERT_TRUE(started) << started.error().text;
  ASSERT_TRUE(comes([&] { return hub.open() && side.open(); }));
  EXPECT_EQ(hub.open()->name, "berlin");
  EXPECT_EQ(hub.open()->cluster_uid, kSpokeUid);
  EXPECT_FALSE(hub.open()->is_hub);
  EXPECT_EQ(side.open()->cluster_uid, kHubUid);
  EXPECT_TRUE(side.open()->is_hub);
  std::vector<std::string> said;
  for (int i = 0; i < 200; ++i) {
    said.push_back("frame " + std::to_string(i));
    ASSERT_TRUE(comes([&] { return tunnels_.send(kSpokeUid, said.back()); }));
    ASSERT_TRUE(comes([&] { return of_spoke.send(kHubUid, said.back()); }));
  }
  ASSERT_TRUE(comes([&] { return side.count() == said.size() && hub.count() == said.size(); }));
  EXPECT_EQ(side.frames, said);
  EXPECT_EQ(hub.frames, said);
  // Who takes nothing is sent a bounded part, and is heard all the same.
  {
    const std::lock_guard lock(hub.mutex);
    hub.holds = true;
  }
  const std::string large(kMaxFrameBytes, 'x');
  EXPECT_FALSE(of_spoke.send(kHubUid, large + "x"));
  std::size_t sent = 0;
  const auto until = std::chrono::steady_clock::now() + 2 * kHeartbeat.interval;
  while (std::chrono::steady_clock::now() < until) sent += of_spoke.send(kHubUid, large) ? 1 : 0;
  EXPECT_LT(sent, 64U);
  EXPECT_EQ(hub.count(), said.size() + 1);
  EXPECT_EQ(view().phase.phase, Phase::kConnected);
  std::function<void(Status)> done;
  {
    const std::lock_guard lock(hub.mutex);
    hub.holds = false;
    done = std::move(hub.held);
  }
  ASSERT_TRUE(done);
  done({});
  EXPECT_TRUE(comes([&] { return hub.count() == said.size() + sent; }));
  started->reset();
  EXPECT_TRUE(comes([&] { return !hub.open(); }));
  EXPECT_FALSE(tunnels_.send(kSpokeUid, "x"));
}

TEST_F(HubTest, QuestionsReachTheSpokeAndAreNeverAnsweredForOneThatIsAway) {
  EXPECT_EQ(ask("/clusters/rome/program").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ask("/clusters/Berlin/program").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ask("/clusters/berlin").error().code, ErrorCode::kInvalidArgument);
  const Result<AgentAnswer> never = ask("/clusters/berlin/program");
  EXPECT_EQ(never.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(never.error().text.find("never been heard"), std::string::npos) << never.error().text;
  const std::string large(3 << 20, 'x');
  auto started = spoke(invite(), nullptr, [&](const AgentQuestion& question) {
    if (question.target == "/large") return AgentAnswer{200, "text/plain", large};
    return AgentAnswer{404, "text/plain", question.method + " " + question.target};
  });
  ASSERT_TRUE(started) << started.error().text;
  ASSERT_TRUE(comes([&] { return ask("/clusters/berlin/a?b=c").ok(); }));
  const Result<AgentAnswer> answer = ask("/clusters/berlin/a?b=c");
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "GET /a?b=c");
  EXPECT_EQ(ask("/clusters/berlin/large")->body, large);
  EXPECT_EQ(view().phase.phase, Phase::kConnected);
  started->reset();
  ASSERT_TRUE(comes([&] { return !ask("/clusters/berlin/a").ok(); }));
  ASSERT_TRUE(reaches(Phase::kDisconnected));
  const Result<AgentAnswer> away = ask("/clusters/berlin/a");
  EXPECT_EQ(away.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(away.error().text.find("is away; it was last heard at 20"), std::string::npos) << away.error().text;
}

TEST_F(HubTest, ASpokeThatLetsNobodyReadIsSaidSo) {
  auto started = spoke(invite());
  ASSERT_TRUE(started);
  ASSERT_TRUE(reaches(Phase::kConnected));
  EXPECT_EQ(ask("/clusters/berlin/program").error().code, ErrorCode::kUnimplemented);
}

TEST_F(HubTest, AnUnansweredQuestionEndsWithItsStream) {
  std::promise<void> asked;
  std::promise<void> released;
  auto started = spoke(invite(), nullptr, [&](const AgentQuestion& question) {
    if (question.target == "/hangs") {
      asked.set_value();
      released.get_future().wait();
    }
    return AgentAnswer{200, "text/plain", "late"};
  });
  ASSERT_TRUE(started);
  ASSERT_TRUE(comes([&] { return ask("/clusters/berlin/a").ok(); }));
  std::promise<Result<AgentAnswer>> answered;
  auto waits = answered.get_future();
  questions_.ask(clusters_.views(), {"GET", "/clusters/berlin/hangs"},
                 [&](Result<AgentAnswer> answer) { answered.set_value(std::move(answer)); });
  asked.get_future().wait();
  // Beyond the bound the hub refuses by itself.
  std::atomic<int> refused = 0;
  for (std::size_t i = 0; i < SpokeQuestions::kMostOpen; ++i) {
    questions_.ask(clusters_.views(), {"GET", "/clusters/berlin/a"}, [&](const Result<AgentAnswer>& answer) {
      if (!answer && answer.error().code == ErrorCode::kResourceExhausted) ++refused;
    });
  }
  EXPECT_EQ(refused, 1);
  ASSERT_TRUE(authority_->revoke_remote("berlin"));
  EXPECT_EQ(waits.get().error().code, ErrorCode::kUnavailable);
  released.set_value();
  started->reset();
}

TEST(SpokeReads, TracesAreReadByTheirIdWhereThatIsAllowed) {
  const AgentQuestion trace{"GET", "/traces/api/traces/4bf92f3577b34da6a3ce929d0e0e4736"};
  SpokeReads closed({.config = {}});
  EXPECT_EQ(closed.answer(trace).status, 403);
  EXPECT_EQ(closed.answer({"GET", "/program"}).status, 404);
  EXPECT_EQ(closed.answer({"POST", "/program"}).status, 405);
  EXPECT_EQ(closed.answer({"GET", "/api/v1/secrets"}).status, 403);
  SpokeReads open({.config = {}, .traces = [](const AgentQuestion& question) {
                     return AgentAnswer{200, "application/json", question.target};
                   }});
  EXPECT_EQ(open.answer(trace).body, trace.target);
  for (const char* other :
       {"/traces/api/traces?limit=9", "/traces/api/services", "/traces/api/traces/", "/traces/api/traces/x"}) {
    EXPECT_EQ(open.answer({"GET", other}).status, 404) << other;
  }
}

TEST(SpokeReads, OwnKindsAreReadAndNothingElse) {
  for (const char* target :
       {"/apis/edgeproxy.io/v1alpha1/proxyroutes", "/apis/edgeproxy.io/v1alpha1/namespaces/shop/proxyroutes?limit=5",
        "/apis/edgeproxy.io/v1alpha1/namespaces/shop/proxyroutes/cart",
        "/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name%3Dcart%2CinvolvedObject.kind%3DProxyRoute"}) {
    EXPECT_TRUE(check_read(target)) << target;
  }
  for (const char* target :
       {"/api/v1/secrets", "/api/v1/namespaces/shop/secrets/key", "/api/v1/namespaces/shop/events",
        "/api/v1/namespaces/shop/events?fieldSelector=involvedObject.kind%3DSecret",
        "/api/v1/namespaces/shop/events?fieldSelector=involvedObject.kind%3DProxyRoute%2Cmetadata.name%3Dx",
        "/apis/edgeproxy.io/v1alpha1/proxyroutes?watch=1",
        "/apis/edgeproxy.io/v1alpha1/namespaces/shop/proxyroutes/a/status",
        "/apis/edgeproxy.io/v1alpha1/../../../api/v1/secrets", "/apis/edgeproxy.io/v1alpha1/namespaces/x/secrets",
        "/apis/apps/v1/deployments", "/apis/edgeproxy.io/v1alpha1//proxyroutes",
        "/apis/%65dgeproxy.io/v1alpha1/proxyroutes", "/metrics", "/", ""}) {
    EXPECT_FALSE(check_read(target)) << target;
  }
}

TEST_F(HubTest, WithoutFederationTheLinkStands) {
  Tunnels of_spoke;
  TunnelSide side(of_spoke);
  auto started = spoke(invite(), &of_spoke);
  ASSERT_TRUE(started);
  ASSERT_TRUE(reaches(Phase::kConnected));
  EXPECT_TRUE(comes([&] { return !side.open() && !of_spoke.send(kHubUid, "x"); }));
  EXPECT_EQ(view().phase.phase, Phase::kConnected);
}

TEST(RemoteIdentity, WhatIsNoJoinFileIsTold) {
  for (const char* text : {"", "hub: a:1\n", "-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n"}) {
    EXPECT_FALSE(read_remote_identity(text)) << text;
  }
}

}  // namespace
}  // namespace edge::controller::remote
