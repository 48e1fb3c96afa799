// What the leader deletes of the Secrets of ACME that nobody wants any more, and of whose.
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/test_log.h"
#include "controller/acme/certificates.h"
#include "program/values/ordered_certificates.h"
#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

namespace acme = controller::acme;
using Json = nlohmann::json;
using testing::UnorderedElementsAre;

constexpr std::int64_t kDay = 24 * 3600;
constexpr std::int64_t kStart = 1'700'000'000;
constexpr const char* kListener = "acme:web:https";

class CertificatesSweepTest : public testing::Test {
 protected:
  void TearDown() override {
    bool stopped = false;
    certificates_.stop([&stopped] { stopped = true; });
    EXPECT_TRUE(bench_.until([&stopped] { return stopped; }));
  }
  void handle(Exchange& exchange) {
    const std::lock_guard lock(mutex_);
    if (exchange.method == "DELETE") {
      deleted_.insert(exchange.target.substr(exchange.target.rfind('/') + 1));
      EXPECT_EQ(Json::parse(exchange.body)["preconditions"]["resourceVersion"], "7");
      return exchange.json(200, R"({"apiVersion":"v1","kind":"Status","status":"Success"})");
    }
    if (!exchange.target.starts_with("/api/v1/secrets")) return exchange.refuse(404, "NotFound");
    Json list = {{"apiVersion", "v1"}, {"kind", "SecretList"}, {"metadata", {{"resourceVersion", "9"}}}};
    list["items"] = items_;
    exchange.json(200, list.dump());
  }
  void store(const acme::SecretText& text) { items_.push_back(Json::parse(acme::write_secret(text, "7"))); }
  void store(const std::string& name, const std::string& role, const std::string& names) {
    store(
        {.name_space = "shop", .name = name, .role = role, .data = {{std::string(program::kOnDemandNamesKey), names}}});
  }
  /// The leader looks for what is left over, an hour after the last time.
  void sweep(const compiler::OrderedCertificates& wanted) {
    certificates_.set_wanted(wanted);
    for (int i = 0; i < 10; ++i) bench_.loop().poll();
    wall_ += 3601;
    certificates_.set_wanted(wanted);
  }
  std::set<std::string> deleted() {
    const std::lock_guard lock(mutex_);
    return deleted_;
  }

  std::mutex mutex_;
  std::set<std::string> deleted_;  ///< names; guarded by the mutex
  Json items_ = Json::array();     ///< set before the first request
  FakeApi api_{[this](Exchange& exchange) { handle(exchange); }};
  net::ManualClock clock_;
  TestLog log_;
  std::int64_t wall_ = kStart;
  Bench bench_{config_of(api_.url()), {.tries = 0}, &clock_};
  acme::Certificates certificates_{bench_.client(),
                                   {.identity = "one", .log = log_.logger(), .wall = [this] { return wall_; }},
                                   {.challenges = [](const auto&) { return acme::kNotGiven; },
                                    .acknowledged = [](std::uint64_t) { return true; },
                                    .reach = [] { return acme::AgentsReach{}; }}};
};

TEST_F(CertificatesSweepTest, NamesOfAListenerThatIsGoneAreDeletedOnceTheyWereLongNotUsed) {
  const std::string kept = program::on_demand_secret_of(kListener);
  const std::string old = R"({"a.test":)" + std::to_string(kStart - 31 * kDay) + "}";
  store(kept, "names", old);
  store("acme-names-used", "names",
        R"({"a.test":)" + std::to_string(kStart - 31 * kDay) + R"(,"b.test":)" + std::to_string(kStart - 29 * kDay) +
            "}");
  store("acme-names-account", "account", old);
  store("acme-names-empty", "names", "{}");
  store("acme-names-old", "names", old);
  compiler::OrderedCertificates wanted;
  wanted.bundles.push_back({.name_space = "shop", .name = kListener, .hosts = {}});
  wanted.bundles.back().on_demand =
      compiler::OnDemandSettings{.allow = {"*.test"}, .max_names = 10, .keep_unused = std::chrono::hours(24 * 365)};
  certificates_.serve({.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"});
  certificates_.lead(true);
  sweep(wanted);
  // The last of the list: what comes before it has been decided on.
  ASSERT_TRUE(bench_.until([this] { return deleted().contains("acme-names-old"); })) << log_.text();
  EXPECT_THAT(deleted(), UnorderedElementsAre("acme-names-empty", "acme-names-old"));
  ASSERT_TRUE(bench_.until([this] {
    return log_.text().find("shop/acme-names-old is deleted, as its listener is gone") != std::string::npos;
  }));
  // Without the listener its names are as those of others; and time goes on for what was used.
  wall_ += 2 * kDay;
  sweep({});
  ASSERT_TRUE(bench_.until([&] { return deleted().contains(kept) && deleted().contains("acme-names-used"); }));
  EXPECT_FALSE(deleted().contains("acme-names-account"));
}

TEST_F(CertificatesSweepTest, SecretsOfAnotherControllerClassStay) {
  const std::string old = R"({"a.test":)" + std::to_string(kStart - 31 * kDay) + "}";
  const std::string own(compiler::link::kDefaults.controller_class);
  const std::pair<std::string, std::string> classes[] = {{"other", "example.com/other"}, {"before", ""}, {"own", own}};
  for (const auto& [word, of] : classes) {
    store({.name_space = "shop",
           .name = "acme-order-" + word,
           .role = "order",
           .host = word + ".test",
           .controller_class = of,
           .data = {}});
    store({.name_space = "shop",
           .name = "acme-names-" + word,
           .role = "names",
           .controller_class = of,
           .data = {{std::string(program::kOnDemandNamesKey), old}}});
  }
  certificates_.serve({.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"});
  certificates_.lead(true);
  sweep({});
  // The last of the list: what comes before it has been decided on.
  ASSERT_TRUE(bench_.until([this] { return deleted().contains("acme-names-own"); })) << log_.text();
  EXPECT_THAT(deleted(),
              UnorderedElementsAre("acme-order-before", "acme-names-before", "acme-order-own", "acme-names-own"));
}

}  // namespace
}  // namespace edge::test
