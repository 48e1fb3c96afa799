#include "controller/infrastructure/service_queue.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::controller {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Call = ServiceQueue::Call;
using Verb = Call::Verb;
using Outcome = ServiceQueue::Result;

constexpr const char* kClass = "edgeproxy.io/proxy";
const ResourceId kGateway{"Gateway", "shop", "web"};
const ResourceId kService{"Service", "shop", "web-edge"};

std::shared_ptr<const GatewayService> asks(const std::string& team, std::vector<ServicePort> ports = {{80, false}}) {
  return std::make_shared<const GatewayService>(GatewayService{.gateway = kGateway,
                                                               .uid = "u1",
                                                               .class_name = "edge",
                                                               .controller = kClass,
                                                               .labels = {{"team", team}},
                                                               .annotations = {},
                                                               .ports = std::move(ports),
                                                               .addresses = {}});
}

/// The object as a server has it.
std::string stored(const std::string& made) {
  Json object = Json::parse(made);
  object["metadata"]["uid"] = "u2";
  object["metadata"]["resourceVersion"] = "1";
  return object.dump();
}

class ServiceQueueTest : public testing::Test {
 protected:
  void start() {
    queue_.observe_gateway(kGateway);
    queue_.synced();
  }
  /// Makes the Service.
  std::string create(const std::string& team = "a") {
    queue_.set_desired(kGateway, asks(team));
    const auto call = queue_.next(now_);
    EXPECT_TRUE(call && call->verb == Verb::kCreate && call->key == kService);
    const std::string object = stored(call->body);
    queue_.done(*call, Outcome::kDone, object, 0, now_);
    EXPECT_FALSE(queue_.next(now_)) << "nothing is written without a change";
    return object;
  }

  net::Time now_{1h};
  ServiceQueue queue_{kClass};
};

TEST_F(ServiceQueueTest, MakesChangesAndTakesAwayWhatAGatewayAsksFor) {
  start();
  const std::string object = create();
  queue_.observe(kService, object);
  EXPECT_FALSE(queue_.next(now_));
  queue_.set_desired(kGateway, asks("b"));
  const auto patch = queue_.next(now_);
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->verb, Verb::kPatch);
  EXPECT_EQ(Json::parse(patch->body)["metadata"]["labels"]["team"], "b");
  EXPECT_FALSE(queue_.next(now_)) << "one call for an object at a time";
  Json changed = Json::parse(object);
  changed.merge_patch(Json::parse(patch->body));
  queue_.done(*patch, Outcome::kDone, changed.dump(), 0, now_);
  EXPECT_FALSE(queue_.next(now_));
  queue_.set_desired(kGateway, nullptr);
  const auto removal = queue_.next(now_);
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->verb, Verb::kDelete);
  EXPECT_EQ(removal->uid, "u2");
  queue_.done(*removal, Outcome::kDone, {}, 0, now_);
  EXPECT_FALSE(queue_.next(now_));
  EXPECT_EQ(queue_.due(), net::kNever);
}

TEST_F(ServiceQueueTest, DoesNothingBeforeEverythingHasBeenSeen) {
  queue_.observe_gateway(kGateway);
  queue_.set_desired(kGateway, asks("a"));
  EXPECT_FALSE(queue_.next(now_)) << "it may be there";
  queue_.observe(kService, stored(objects_of(*asks("a"))[0].text));
  queue_.synced();
  EXPECT_FALSE(queue_.next(now_));
}

TEST_F(ServiceQueueTest, CollectsWhatAFormerProcessMade) {
  queue_.observe(kService, stored(objects_of(*asks("a"))[0].text));
  queue_.observe_gateway(kGateway);
  queue_.synced();
  EXPECT_FALSE(queue_.next(now_)) << "what the Gateway asks for is not known yet";
  queue_.set_desired(kGateway, nullptr);
  ASSERT_TRUE(queue_.next(now_));
}

TEST_F(ServiceQueueTest, CollectsWhatIsForAGatewayThatIsGone) {
  queue_.observe(kService, stored(objects_of(*asks("a"))[0].text));
  queue_.synced();
  const auto call = queue_.next(now_);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->verb, Verb::kDelete);
}

TEST_F(ServiceQueueTest, LeavesWhatOthersMade) {
  Json object = Json::parse(stored(objects_of(*asks("a"))[0].text));
  object["metadata"]["annotations"]["edgeproxy.io/controller"] = "example.com/other";
  queue_.observe(kService, object.dump());
  queue_.synced();
  EXPECT_FALSE(queue_.next(now_)) << "another controller's";
  // Made for a Gateway of ours it is refused by the server, and tried again later on alone.
  queue_.observe_gateway(kGateway);
  queue_.set_desired(kGateway, asks("a"));
  const auto call = queue_.next(now_);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->verb, Verb::kCreate);
  queue_.done(*call, Outcome::kTaken, {}, 0, now_);
  queue_.observe(kService, object.dump());
  EXPECT_FALSE(queue_.next(now_ + 1min));
  queue_.forget(kService);
  EXPECT_TRUE(queue_.next(now_ + 1min)) << "the name is free";
}

TEST_F(ServiceQueueTest, AServiceOutlivesListenersThatAreNotServed) {
  start();
  create();
  queue_.set_desired(kGateway, asks("a", {}));
  EXPECT_FALSE(queue_.next(now_)) << "its cluster address would be another";
  queue_.forget(kService);
  EXPECT_FALSE(queue_.next(now_)) << "without a port it is none";
  queue_.set_desired(kGateway, asks("a"));
  EXPECT_TRUE(queue_.next(now_));
}

TEST_F(ServiceQueueTest, WaitsAsLongAsTheServerAsks) {
  start();
  queue_.set_desired(kGateway, asks("a"));
  const auto call = queue_.next(now_);
  ASSERT_TRUE(call);
  queue_.done(*call, Outcome::kFailed, {}, /*asked=*/30, now_);
  queue_.set_desired(kGateway, asks("b"));
  EXPECT_EQ(queue_.due(), now_ + 30s);
  EXPECT_FALSE(queue_.next(now_ + 29s));
  ASSERT_TRUE(queue_.next(now_ + 30s));
}

TEST_F(ServiceQueueTest, WaitsLongerAfterEachFailure) {
  start();
  queue_.set_desired(kGateway, asks("a"));
  net::Duration last{};
  for (int i = 0; i < 5; ++i) {
    const auto call = queue_.next(now_);
    ASSERT_TRUE(call);
    queue_.done(*call, Outcome::kFailed, {}, 0, now_);
    EXPECT_GT(queue_.due() - now_, last);
    last = queue_.due() - now_;
    now_ = queue_.due();
  }
  const auto call = queue_.next(now_);
  ASSERT_TRUE(call);
  queue_.done(*call, Outcome::kDone, stored(call->body), 0, now_);
  EXPECT_FALSE(queue_.next(now_));
  EXPECT_EQ(queue_.due(), net::kNever);
}

}  // namespace
}  // namespace edge::controller
