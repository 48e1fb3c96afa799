// The state's file: a crash at any byte, files that are lost, old or another cluster's, and its size.
#include "controller/federation/run/state_file.h"

#include <chrono>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/base64.h"
#include "controller/authority/certificates.h"
#include "controller/authority/remote_identity.h"
#include "controller/federation/run/api_object.h"
#include "controller/federation/run/spec.h"
#include "controller/federation/test_clusters.h"

namespace edge::federation {
namespace {

class StateFileTest : public testing::Test {
 protected:
  StateFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "state.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    EXPECT_TRUE(keys_.add("east", key_.public_pem()));
  }
  ~StateFileTest() override { std::filesystem::remove_all(directory_); }

  Result<StateFile::Opened> open(const std::string& cluster = "east") {
    return StateFile::open(directory_, cluster, keys_.signatures(), {});
  }
  static ObjectKey key_of(int i) { return {"ProxyRoute", "shop", "r-" + std::to_string(i)}; }
  std::string path() const { return directory_ + "/state"; }

  std::string directory_;
  program::SigningKey key_ = program::SigningKey::generate().value();
  ClusterKeys keys_{key_};
};

TEST_F(StateFileTest, KeepsWhatWasSaved) {
  {
    auto opened = open();
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_TRUE(opened->is_new);
    Replica& replica = opened->state.replica;
    replica.begin_life(kTestTime, 1);
    replica.set_rules({.policy = ConflictPolicy::kHubWins, .hub = "east"});
    replica.set_peer("west", {.name = "west", .reads = {.kinds = {"ProxyRoute"}}});
    replica.add_member({.cluster = "west", .name = "west", .public_key = key_.public_pem()});
    ASSERT_TRUE(replica.write(key_of(1), "{\"a\":1}", kTestTime));
    const VersionPtr first = replica.winner(key_of(1));
    opened->state.applied[key_of(1)] = first;
    opened->state.records[key_of(1)] = {.echo = "{\"a\":1,\"b\":2}", .uid = "u", .generation = 3};
    opened->state.api_versions["ProxyRoute"] = 17;
    ASSERT_TRUE(opened->file->save(opened->state));
    // The API has the version before.
    ASSERT_TRUE(replica.write(key_of(1), "{\"a\":2}", kTestTime));
    ASSERT_TRUE(replica.write(key_of(2), "{}", kTestTime));
    ASSERT_TRUE(replica.remove(key_of(2), kTestTime));
    ASSERT_TRUE(opened->file->save(opened->state));
    EXPECT_EQ(open().error().code, ErrorCode::kUnavailable) << "a second process";
  }
  auto again = open();
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_FALSE(again->is_new);
  ClusterState& state = again->state;
  EXPECT_EQ(state.replica.winner(key_of(1))->content, "{\"a\":2}");
  EXPECT_EQ(state.applied.at(key_of(1))->content, "{\"a\":1}");
  EXPECT_EQ(state.records.at(key_of(1)).generation, 3);
  EXPECT_EQ(state.api_versions.at("ProxyRoute"), 17U);
  EXPECT_EQ(state.replica.winner(key_of(2)), nullptr);
  EXPECT_EQ(state.replica.counts().tombstones, 1U);
  EXPECT_EQ(state.replica.rules().policy, ConflictPolicy::kHubWins);
  EXPECT_EQ(state.replica.peer("west")->settings.name, "west");
  EXPECT_EQ(state.replica.members().at("west").name, "west");
  EXPECT_EQ(state.replica.lives().size(), 1U);
}

TEST_F(StateFileTest, ACrashAtAnyByteKeepsWhatWasSyncedBefore) {
  std::vector<std::uint64_t> sizes;
  {
    auto opened = open();
    ASSERT_TRUE(opened);
    opened->state.replica.begin_life(kTestTime, 1);
    ASSERT_TRUE(opened->file->save(opened->state));
    sizes.push_back(opened->file->bytes());
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(opened->state.replica.write(key_of(i), "{}", kTestTime));
      ASSERT_TRUE(opened->file->save(opened->state));
      sizes.push_back(opened->file->bytes());
    }
  }
  const auto whole = read_file(path(), 1 << 20);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->size(), sizes.back());
  // Beside each record's ends, and every few bytes within.
  std::set<std::uint64_t> cuts;
  for (std::uint64_t cut = sizes.front(); cut <= sizes.back(); cut += 17) cuts.insert(cut);
  for (const std::uint64_t size : sizes) cuts.insert({size - 1, size, size + 1, size + 11, size + 12, size + 13});
  for (const std::uint64_t cut : cuts) {
    if (cut < sizes.front() || cut > sizes.back()) continue;
    ASSERT_TRUE(write_file(path(), std::string_view(*whole).substr(0, cut), FileAccess::kOwnerOnly));
    auto opened = open();
    ASSERT_TRUE(opened) << "cut at " << cut << ": " << opened.error().text;
    const auto saved = static_cast<std::size_t>(std::ranges::upper_bound(sizes, cut) - sizes.begin()) - 1;
    EXPECT_EQ(opened->state.replica.counts().objects, saved) << "cut at " << cut;
    // What comes after it is kept.
    ASSERT_TRUE(opened->state.replica.write(key_of(9), "{}", kTestTime));
    ASSERT_TRUE(opened->file->save(opened->state));
    opened->file.reset();
    auto after = open();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->state.replica.counts().objects, saved + 1);
  }
}

TEST_F(StateFileTest, WhatCannotBeReadIsSetAside) {
  for (const std::string& text : {std::string("nonsense"), std::string("edge federation state 1\n"), std::string()}) {
    ASSERT_TRUE(write_file(path(), std::string_view(text), FileAccess::kOwnerOnly));
    auto opened = open();
    ASSERT_TRUE(opened);
    EXPECT_TRUE(opened->is_new);
    EXPECT_EQ(opened->state.replica.counts().objects, 0U);
  }
  EXPECT_TRUE(std::filesystem::exists(path() + ".broken"));
  {
    auto opened = open();
    opened->state.replica.begin_life(kTestTime, 1);
    ASSERT_TRUE(opened->file->save(opened->state));
  }
  auto other = open("west");
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->is_new) << "the state of another cluster";
}

TEST_F(StateFileTest, IsBoundedAndNotWrittenWholeForEachChange) {
  auto opened = open();
  ASSERT_TRUE(opened);
  Replica& replica = opened->state.replica;
  replica.begin_life(kTestTime, 1);
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(replica.write(key_of(i), std::string(1000, 'x'), kTestTime));
  ASSERT_TRUE(opened->file->save(opened->state));
  const std::uint64_t full = opened->file->bytes();
  ASSERT_TRUE(replica.write(key_of(7), "{}", kTestTime));
  ASSERT_TRUE(opened->file->save(opened->state));
  EXPECT_LT(opened->file->bytes() - full, 4096U);
  const std::uint64_t before = opened->file->bytes();
  ASSERT_TRUE(opened->file->save(opened->state));
  EXPECT_EQ(opened->file->bytes(), before) << "nothing has changed";
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_TRUE(replica.write(key_of(i % 100), std::string(1000, 'y'), kTestTime));
    if (i % 50 == 0) ASSERT_TRUE(opened->file->save(opened->state));
  }
  EXPECT_LT(opened->file->bytes(), 4 * full + (std::uint64_t{8} << 20));
}

TEST(ApiObjectTest, KeepsWhatIsItsClusters) {
  const auto object = read_api_object(R"({"apiVersion":"v1","kind":"ProxyRoute","metadata":{"name":"a","uid":"u",
      "resourceVersion":"7","generation":2,"finalizers":["x/y"],"labels":{"l":"m"},
      "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"x":1}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->generation, 2);
  EXPECT_FALSE(object->ending);
  const auto written = written_object(
      R"({"apiVersion":"v1","kind":"ProxyRoute","metadata":{"name":"a"},"spec":{"x":2}})", "berlin", &*object);
  ASSERT_TRUE(written);
  for (const char* part : {R"("finalizers":["x/y"])", R"("resourceVersion":"7")", R"("uid":"u")", "last-applied",
                           R"("x":2)", R"("edgeproxy.io/origin-cluster":"berlin")"}) {
    EXPECT_NE(written->find(part), std::string::npos) << part << " in " << *written;
  }
  EXPECT_TRUE(read_api_object(R"({"kind":"Secret","type":"helm.sh/release.v1","metadata":{"name":"a"}})")->is_machine);
  EXPECT_FALSE(read_api_object("[]"));
}

/// The keys of a cluster, whoever has them written: with one of these another cluster could sign programs, or connect
/// in its name.
TEST(ApiObjectTest, SecretsThatAClusterLivesByAreItsOwn) {
  const auto secret = [](const std::string& metadata, const std::string& data) {
    return R"({"kind":"Secret","metadata":{"name":"a")" + metadata + R"(},"data":{)" + data + "}}";
  };
  EXPECT_FALSE(is_machine_secret(secret("", R"("password":"YQ==")")));
  EXPECT_FALSE(is_machine_secret(secret(R"(,"labels":{"edgeproxy.io/acme":"certificate"})", "")));
  EXPECT_TRUE(is_machine_secret(secret(R"(,"labels":{"app.kubernetes.io/managed-by":"edge-operator"})", "")));
  EXPECT_TRUE(is_machine_secret(secret(R"(,"labels":{"edgeproxy.io/acme":"account"})", "")));
  const auto now = std::chrono::system_clock::now();
  const auto issuer = controller::Issuer::create({now - std::chrono::hours(1), now + std::chrono::hours(1)});
  ASSERT_TRUE(issuer);
  const auto client = issuer->issue({controller::Role::kRemote, "berlin"}, issuer->validity(), now);
  ASSERT_TRUE(client);
  EXPECT_TRUE(is_machine_secret(secret("", R"("tls.crt":")" + to_base64(client->certificate) + '"')));
  const auto site = issuer->issue(
      controller::PlainSubject{
          .use = controller::PlainSubject::Use::kServer, .common_name = "shop.example", .hosts = {"shop.example"}},
      issuer->validity(), now);
  ASSERT_TRUE(site);
  EXPECT_FALSE(is_machine_secret(secret("", R"("tls.crt":")" + to_base64(site->certificate) + '"')));
  EXPECT_FALSE(is_machine_secret(R"({"kind":"ConfigMap","metadata":{"name":"a"}})"));
  for (const char* role : {"order", "controller", "names"}) {
    EXPECT_TRUE(is_machine_secret(secret(R"(,"labels":{"edgeproxy.io/acme":")" + std::string(role) + "\"}", "")))
        << role;
  }
  // Whatever the value is called, and wherever in it the certificate is.
  const std::string join_file = controller::text_of(controller::RemoteIdentity{.hub = "hub:9090",
                                                                               .cluster = "berlin",
                                                                               .certificate = client->certificate,
                                                                               .key = client->key,
                                                                               .authorities = issuer->certificate()});
  const auto value = [](const std::string& text) { return R"("password":"YQ==","join":")" + to_base64(text) + '"'; };
  EXPECT_TRUE(is_machine_secret(secret("", value(join_file))));
  EXPECT_TRUE(is_machine_secret(
      secret("", value(site->certificate + "-----BEGIN CERTIFICATE-----\nno\n" + site->key + client->certificate))));
  const std::string agents = "# Who has this file may join.\ntoken: abc\n" + issuer->certificate();
  EXPECT_TRUE(is_machine_secret(secret("", value(agents))));
  EXPECT_TRUE(is_machine_secret(secret("", value(agents.substr(agents.find("token"))))));
  std::string plain = agents;
  for (std::size_t at = 0; (at = plain.find('\n', at)) != std::string::npos;) plain.replace(at, 1, "\\n");
  EXPECT_TRUE(is_machine_secret(R"({"kind":"Secret","metadata":{"name":"a"},"stringData":{"j":")" + plain + R"("}})"));
  // What looks like it: authorities alone, a token alone, and one within a kubeconfig.
  EXPECT_FALSE(is_machine_secret(secret("", value(issuer->certificate()))));
  EXPECT_FALSE(is_machine_secret(secret("", value("token: abc\n"))));
  EXPECT_FALSE(is_machine_secret(secret("", value("user:\n  token: abc\nca: |\n" + issuer->certificate()))));
  EXPECT_FALSE(is_machine_secret(R"({"kind":"Secret","data":[1],"stringData":"x"})"));
}

TEST(ApiObjectTest, FieldsThatTheApiDoesNotKnowStay) {
  // The API dropped `later`, and added a default.
  EXPECT_EQ(changed_content(R"({"spec":{"a":1,"later":[1]}})", R"({"spec":{"a":1,"default":true}})",
                            R"({"spec":{"a":2,"default":true}})"),
            R"({"spec":{"a":2,"later":[1]}})");
  EXPECT_EQ(changed_content(R"({"spec":{"a":1,"b":1}})", R"({"spec":{"a":1,"b":1}})", R"({"spec":{"b":1}})"),
            R"({"spec":{"b":1}})");
}

TEST(PeerSpecTest, SharesNothingThatIsNotNamed) {
  EXPECT_FALSE(read_peer_spec("{}", false).enabled);
  const PeerSpec none = read_peer_spec(R"({"spec":{"federation":{"enabled":true}}})", false);
  EXPECT_TRUE(none.enabled);
  EXPECT_TRUE(none.shares_nothing());
  const PeerSpec spec = read_peer_spec(
      R"({"spec":{"federation":{"enabled":true,"kinds":["ProxyRoute"],"namespaces":["shop"],"reads":{"enabled":false},
      "writes":{"kinds":["Secret"]},"conflictPolicy":"HubWins","syncInterval":"10ms","quota":{"objects":5,"bytes":"1Ki"}}}})",
      false);
  EXPECT_TRUE(spec.reads.nothing);
  EXPECT_TRUE(spec.shares.covers({"ProxyRoute", "shop", "a"}));
  EXPECT_FALSE(spec.shares.covers({"ProxyRoute", "other", "a"}));
  EXPECT_FALSE(spec.shares.covers({"Secret", "shop", "a"}));
  EXPECT_TRUE(spec.writes.covers({"Secret", "shop", "a"}));
  EXPECT_EQ(spec.policy, ConflictPolicy::kHubWins);
  EXPECT_EQ(spec.sync_interval, std::chrono::seconds(1));
  EXPECT_EQ(spec.quota.objects, 5U);
  EXPECT_EQ(spec.quota.bytes, 1024U);
  const PeerSpec hub = read_peer_spec(
      R"({"spec":{"controllerAddress":"hub:9090","federation":{"enabled":true,"kinds":["ProxyRoute"]}}})", true);
  EXPECT_EQ(hub.hub, "hub:9090");
  EXPECT_TRUE(hub.writes.covers({"ProxyRoute", "shop", "a"}));
  EXPECT_FALSE(hub_spec("hub:9090", {}, {}).enabled);
}

// Left out, each of them widens what is exchanged: a key that nothing follows is not left out.
TEST(PeerSpecTest, WhatIsLeftEmptyExchangesNothing) {
  const auto spec_of = [](const std::string& more) {
    return read_peer_spec(R"({"spec":{"federation":{"enabled":true,"kinds":["ProxyRoute"])" + more + "}}}", false);
  };
  EXPECT_FALSE(spec_of("").reads.nothing);
  EXPECT_FALSE(spec_of(R"(,"reads":{})").reads.nothing);
  for (const char* more : {R"(,"namespaces":null)", R"(,"namespaces":[])"}) {
    EXPECT_TRUE(spec_of(more).reads.nothing) << more;
    EXPECT_TRUE(spec_of(more).shares.nothing) << more;
  }
  for (const char* grant :
       {"null", R"({"kinds":null})", R"({"kinds":[]})", R"({"namespaces":null})", R"({"namespaces":[]})"}) {
    EXPECT_TRUE(spec_of(std::string(R"(,"reads":)") + grant).reads.nothing) << grant;
    EXPECT_TRUE(spec_of(std::string(R"(,"shares":)") + grant).shares.nothing) << grant;
  }
}

}  // namespace
}  // namespace edge::federation
