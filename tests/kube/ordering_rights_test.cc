// The right to order certificates: missing it is said once for each namespace, and noticed when it is given.
#include "controller/rights/ordering_rights.h"

#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_log.h"
#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using controller::OrderingRights;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OrderingRightsTest : public testing::Test {
 protected:
  void handle(Exchange& exchange) {
    const std::lock_guard lock(mutex_);
    if (away_) return exchange.refuse(503, "ServiceUnavailable");
    Json review = Json::parse(exchange.body);
    const Json& asked = review["spec"]["resourceAttributes"];
    EXPECT_EQ(asked["resource"], "secrets");
    review["status"]["allowed"] = allowed_.contains(asked["namespace"]) || asked["verb"] == "create";
    exchange.json(201, review.dump());
  }
  void allow(const std::string& name_space) {
    const std::lock_guard lock(mutex_);
    allowed_.insert(name_space);
  }
  void set_away(bool away) {
    const std::lock_guard lock(mutex_);
    away_ = away;
  }
  std::size_t asked() const { return api_.count("selfsubjectaccessreviews"); }

  std::mutex mutex_;
  std::set<std::string> allowed_;  ///< guarded by the mutex
  bool away_ = false;              ///< likewise
  FakeApi api_{[this](Exchange& exchange) { handle(exchange); }};
  net::ManualClock clock_;
  TestLog log_;
  std::vector<std::string> missing_;
  Bench bench_{config_of(api_.url()), {.tries = 0}, &clock_};
  OrderingRights rights_{bench_.client(),
                         {.log = log_.logger(), .missing = [this](const std::string& space, const std::string& why) {
                            missing_.push_back(space);
                            message_ = why;
                          }}};
  std::string message_;
};

TEST_F(OrderingRightsTest, SaysOnceWhereTheRightIsMissingAndWhenItIsGiven) {
  allow("blog");
  rights_.lead(true);
  rights_.set_namespaces({"blog", "shop"});
  ASSERT_TRUE(bench_.until([&] { return !missing_.empty(); }));
  EXPECT_THAT(missing_, ElementsAre("shop"));
  // Of the verbs `create` is allowed: the next one is not.
  EXPECT_THAT(message_, HasSubstr("for shop: the controller may not delete Secrets there"));
  EXPECT_THAT(message_, HasSubstr("acme.enabled"));
  const std::size_t before = asked();
  clock_.advance(std::chrono::minutes(1));
  // Asked for again, and not said again; of the other one nothing is asked any more.
  ASSERT_TRUE(bench_.until([&] { return asked() >= before + 2; }));
  allow("shop");
  ASSERT_TRUE(bench_.until([&] {
    clock_.advance(std::chrono::minutes(1));
    return log_.text().find("may write Secrets now") != std::string::npos;
  }));
  EXPECT_THAT(missing_, ElementsAre("shop"));
  const std::size_t after = asked();
  clock_.advance(std::chrono::hours(1));
  for (int i = 0; i < 10; ++i) bench_.loop().poll();
  EXPECT_EQ(asked(), after) << "who has the right is not asked about again";
}

TEST_F(OrderingRightsTest, AsksOfALeaderAloneAndForWhatIsOrdered) {
  rights_.set_namespaces({"shop"});
  for (int i = 0; i < 10; ++i) bench_.loop().poll();
  EXPECT_EQ(asked(), 0U);
  rights_.set_namespaces({});
  rights_.lead(true);
  for (int i = 0; i < 10; ++i) bench_.loop().poll();
  EXPECT_EQ(asked(), 0U);
  rights_.set_namespaces({"shop"});
  ASSERT_TRUE(bench_.until([&] { return missing_.size() == 1; }));
  // One that is added is looked at without waiting for the minute.
  rights_.set_namespaces({"blog", "shop"});
  ASSERT_TRUE(bench_.until([&] { return missing_.size() == 2; }));
}

TEST_F(OrderingRightsTest, AServerThatDoesNotAnswerIsNoMissingRight) {
  set_away(true);
  rights_.lead(true);
  rights_.set_namespaces({"shop"});
  ASSERT_TRUE(bench_.until([&] { return asked() >= 1; }));
  EXPECT_THAT(missing_, IsEmpty());
  set_away(false);
  ASSERT_TRUE(bench_.until([&] {
    clock_.advance(std::chrono::minutes(1));
    return missing_.size() == 1;
  }));
}

}  // namespace
}  // namespace edge::test
