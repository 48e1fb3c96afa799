// Names of endpoints against a name server of the test's own: what the backends of a process have of them.
#include "runtime/upstream/endpoint_names.h"

#include <condition_variable>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "tests/support/name_server.h"

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::NameServer;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Kind = NameServer::Kind;

constexpr auto kPatience = seconds(60);

program::BackendEndpoints backend(const std::string& name, std::vector<program::EndpointName> names,
                                  std::vector<program::Endpoint> endpoints = {}) {
  program::BackendEndpoints made{stable_id("ProxyBackend", "shop", name), "shop", name, std::move(endpoints),
                                 std::move(names)};
  program::sort(made);
  return made;
}

program::Endpoint endpoint(const std::string& address, std::uint16_t port) {
  return {.address = *parse_ip(address), .port = port};
}

class Names : public testing::Test {
 protected:
  Names() {
    options_.queries.servers = server_.address();
    options_.queries.patience = milliseconds(200);
    options_.queries.tries = 1;
    options_.keep_least = options_.first_pause = milliseconds(20);
    options_.longest_pause = milliseconds(100);
  }

  void start() {
    names_.emplace(options_, backends_, [this](bool) {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }
  void set(std::vector<program::BackendEndpoints> all) {
    std::ranges::sort(all, {}, &program::BackendEndpoints::backend_id);
    if (!names_) start();
    names_->set(std::make_shared<const program::EndpointSet>(program::EndpointSet{std::move(all)}));
  }
  std::vector<std::string> endpoints(const std::string& name) {
    std::vector<std::string> all;
    for (const auto& one : backends_.of(stable_id("ProxyBackend", "shop", name))->endpoints()) {
      all.push_back(to_string(one->address.address) + ":" + std::to_string(one->address.port));
    }
    return all;
  }
  NameStatus status(const std::string& name) {
    std::vector<BackendStatus> all(1);
    all[0].id = stable_id("ProxyBackend", "shop", name);
    names_->add_to(all);
    return all[0].names.empty() ? NameStatus{} : all[0].names[0];
  }
  /// Waits until it is so.
  template <typename Holds>
  bool until(Holds holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return holds(); });
  }
  bool until_endpoints(const std::string& name, const std::vector<std::string>& wanted) {
    return until([&] { return endpoints(name) == wanted; });
  }

  NameServer server_;
  EndpointNameOptions options_;
  Backends backends_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<EndpointNames> names_;
};

TEST_F(Names, BothFamiliesAreFoundBesideWrittenAddresses) {
  server_.set("a.test", {.addresses = {"192.0.2.2", "2001:db8::1", "192.0.2.1"}, .lifetime = 300});
  set({backend("api", {{"a.test", 80, 1}, {"a.test", 81, 2}}, {endpoint("192.0.2.1", 80)})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  EXPECT_THAT(endpoints("api"), UnorderedElementsAre("192.0.2.1:80", "192.0.2.2:80", "2001:db8::1:80", "192.0.2.1:81",
                                                     "192.0.2.2:81", "2001:db8::1:81"));
  EXPECT_EQ(status("api").name, "a.test:80");
  EXPECT_EQ(status("api").addresses, 3U);
  EXPECT_EQ(status("api").error, "");
}

TEST_F(Names, WhatIsKnownOfAnAddressThatStaysIsKept) {
  server_.set("a.test", {.addresses = {"192.0.2.1", "192.0.2.2"}});
  set({backend("api", {{"a.test", 80, 1}})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  const auto before = backends_.of(stable_id("ProxyBackend", "shop", "api"))->endpoints();
  ASSERT_EQ(before.size(), 2U);
  server_.set("a.test", {.addresses = {"192.0.2.2", "192.0.2.3"}});
  ASSERT_TRUE(until_endpoints("api", {"192.0.2.2:80", "192.0.2.3:80"}));
  EXPECT_EQ(backends_.of(stable_id("ProxyBackend", "shop", "api"))->endpoints()[0], before[1]);
}

TEST_F(Names, FailuresKeepWhatIsKnownAndDenialsAreBelievedInARow) {
  server_.set("a.test", {.addresses = {"192.0.2.1"}});
  set({backend("api", {{"a.test", 80, 1}})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  for (const Kind kind : {Kind::kFails, Kind::kSilent}) {
    server_.set("a.test", {.kind = kind});
    const std::uint64_t failed = status("api").failed_lookups;
    ASSERT_TRUE(until([&] { return status("api").failed_lookups >= failed + options_.denials + 1; }));
    EXPECT_NE(status("api").error, "");
    EXPECT_EQ(status("api").addresses, 1U);
    EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.1:80"));
  }
  server_.set("a.test", {.kind = Kind::kNoSuchName});
  ASSERT_TRUE(until_endpoints("api", {}));
  server_.set("a.test", {});  // there is such a name, and it has no address
  server_.set("a.test", {.addresses = {"192.0.2.9"}});
  ASSERT_TRUE(until_endpoints("api", {"192.0.2.9:80"}));
  EXPECT_EQ(status("api").error, "");
}

TEST_F(Names, ServicesLeadToTheirTargets) {
  server_.set("_http._tcp.a.test", {.services = {{.weight = 1000, .port = 80, .host = "x.a.test"},
                                                 {.weight = 0, .port = 81, .host = "y.a.test"},
                                                 {.priority = 2, .port = 82, .host = "z.a.test"}}});
  server_.set("x.a.test", {.addresses = {"192.0.2.1"}});
  server_.set("y.a.test", {.addresses = {"192.0.2.2"}});
  server_.set("z.a.test", {.addresses = {"192.0.2.3"}});
  set({backend("api", {{"_http._tcp.a.test", 0, 1}})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.1:80", "192.0.2.2:81"));
  EXPECT_EQ(server_.asked("z.a.test"), 0);
  const auto view = backends_.of(stable_id("ProxyBackend", "shop", "api"))->view(net::Time{});
  EXPECT_EQ(view.endpoints[0].weight, 256);
  EXPECT_EQ(view.endpoints[1].weight, 1);
  server_.set("y.a.test", {.kind = Kind::kFails});
  ASSERT_TRUE(until([&] { return !status("api").error.empty(); }));
  EXPECT_THAT(status("api").error, testing::HasSubstr("y.a.test"));
  // A single dot says that there is no service.
  server_.set("_http._tcp.a.test", {.services = {{.port = 0, .host = ""}}});
  ASSERT_TRUE(until_endpoints("api", {}));
}

TEST_F(Names, ANewNameTakesOverWhenItIsAnswered) {
  // Asked once more after half a second, and given up long after.
  options_.queries.patience = milliseconds(500);
  options_.queries.tries = 10;
  server_.set("a.test", {.kind = Kind::kSilent});
  set({backend("api", {}, {endpoint("192.0.2.1", 80)})});
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.1:80"));
  set({backend("api", {{"a.test", 80, 1}}, {endpoint("192.0.2.7", 80)})});
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.1:80", "192.0.2.7:80"));
  server_.set("a.test", {.addresses = {"192.0.2.2"}});
  ASSERT_TRUE(until_endpoints("api", {"192.0.2.2:80", "192.0.2.7:80"}));
  set({backend("api", {}, {endpoint("192.0.2.7", 80)})});
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.7:80"));
  EXPECT_EQ(status("api").name, "");
}

TEST_F(Names, AddressesAndNamesAreBounded) {
  options_.max_addresses = 3;
  options_.max_endpoints = 4;
  options_.max_names = 2;
  server_.set("a.test", {.addresses = {"192.0.2.5", "192.0.2.4", "192.0.2.3", "192.0.2.2"}, .truncated = true});
  server_.set("b.test", {.addresses = {"192.0.2.9", "192.0.2.8"}});
  set({backend("api", {{"a.test", 80, 1}, {"b.test", 80, 1}, {"c.test", 80, 1}})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.2:80", "192.0.2.3:80", "192.0.2.4:80", "192.0.2.8:80"));
  EXPECT_GT(server_.asked_over_tcp(), 0);
  EXPECT_EQ(server_.asked("c.test"), 0);
}

TEST_F(Names, DeniedAddressesAreLeftOutAtOnce) {
  options_.denied = {*parse_cidr("127.0.0.0/8")};
  server_.set("a.test", {.addresses = {"192.0.2.1", "127.0.0.1"}});
  set({backend("api", {{"a.test", 80, 1}})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.1:80"));
  server_.set("a.test", {.addresses = {"127.0.0.1"}});
  ASSERT_TRUE(until_endpoints("api", {}));
  EXPECT_THAT(status("api").error, testing::HasSubstr("denied"));
}

TEST_F(Names, AnAnswerLastsAsLongAsItSays) {
  server_.set("long.test", {.addresses = {"192.0.2.1"}, .lifetime = 600});
  server_.set("short.test", {.addresses = {"192.0.2.2"}});
  set({backend("api", {{"long.test", 80, 1}}), backend("web", {{"short.test", 80, 1}})});
  ASSERT_TRUE(names_->wait_for_answers(kPatience));
  const int asked = server_.asked("long.test");
  ASSERT_TRUE(until([&] { return status("web").lookups > 5; }));
  EXPECT_EQ(server_.asked("long.test"), asked);
  // The same names again are not asked for again.
  set({backend("api", {{"long.test", 80, 1}}), backend("web", {{"short.test", 80, 1}})});
  EXPECT_THAT(endpoints("api"), ElementsAre("192.0.2.1:80"));
  EXPECT_EQ(server_.asked("long.test"), asked);
}

TEST_F(Names, ItEndsWhileItAsks) {
  server_.set("a.test", {.kind = Kind::kSilent});
  options_.queries.patience = std::chrono::hours(1);
  set({backend("api", {{"a.test", 80, 1}})});
  EXPECT_FALSE(names_->wait_for_answers(milliseconds(1)));
  EXPECT_THAT(endpoints("api"), IsEmpty());
  names_.reset();
}

}  // namespace
}  // namespace edge::runtime
