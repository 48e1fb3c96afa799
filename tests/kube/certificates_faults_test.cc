// What keeps names from certificates reaches people though the API is in the way, and costs nothing while it lasts.
#include <atomic>
#include <semaphore>

#include <gmock/gmock.h>

#include "base/test_log.h"
#include "controller/acme/certificates.h"
#include "program/values/ordered_certificates.h"
#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

namespace acme = controller::acme;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class CertificatesFaultsTest : public testing::Test {
 protected:
  static constexpr const char* kSecrets = "/api/v1/namespaces/shop/secrets";
  static constexpr const char* kGateway = "/apis/edgeproxy.io/v1alpha1/namespaces/shop/proxygateways/web";
  static constexpr const char* kListener = "acme:web:https";

  CertificatesFaultsTest() {
    certificates_.serve({.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"});
  }
  void TearDown() override {
    bool stopped = false;
    certificates_.stop([&stopped] { stopped = true; });
    EXPECT_TRUE(bench_.until([&stopped] { return stopped; }));
  }
  /// Lets a listener's changes be gathered.
  void gather() {
    for (int i = 0; i < 10; ++i) bench_.loop().poll();
    clock_.advance(200ms);
  }

  std::function<void(Exchange&)> handle_;             ///< set before the first request
  std::atomic<bool> refused_ = false, told_ = false;  ///< by the handler
  std::counting_semaphore<> answers_{0};              ///< until there is one the handler may wait
  ObjectShelf shelf_;
  FakeApi api_{[this](Exchange& exchange) { handle_(exchange); }};
  net::ManualClock clock_;
  TestLog log_;
  std::uint64_t looks_ = 0;  ///< at the wall clock
  Bench bench_{config_of(api_.url()), {.tries = 0}, &clock_};
  acme::Certificates certificates_{bench_.client(),
                                   {.identity = "one",
                                    .log = log_.logger(),
                                    .wall =
                                        [this] {
                                          ++looks_;
                                          return std::int64_t{1'700'000'000};
                                        }},
                                   {.challenges = [](const auto&) { return acme::kNotGiven; },
                                    .acknowledged = [](std::uint64_t) { return true; },
                                    .reach = [] { return acme::AgentsReach{}; }}};
};

TEST_F(CertificatesFaultsTest, AFaultOfNamesOnDemandIsWrittenAndToldThoughTheFirstTryFails) {
  const std::string secret = std::string(kSecrets) + "/" + program::on_demand_secret_of(kListener);
  handle_ = [this](Exchange& exchange) {
    const bool of_fault = exchange.body.find("maxNames") != std::string::npos;
    if (of_fault && exchange.method == "PUT" && !refused_.exchange(true)) return exchange.refuse(409, "Conflict");
    if (of_fault && exchange.target.find("/events") != std::string::npos) told_ = true;
    shelf_.handle(exchange);
  };
  compiler::OrderedCertificates wanted;
  wanted.bundles.push_back({.name_space = "shop", .name = kListener, .hosts = {}});
  compiler::OrderedBundle& bundle = wanted.bundles.back();
  bundle.on_demand =
      compiler::OnDemandSettings{.allow = {"*.test"}, .max_names = 1, .keep_unused = std::chrono::hours(24)};
  bundle.on_demand_certificate.gateway = "shop/web";
  certificates_.set_wanted(wanted);
  certificates_.want({{"shop", kListener, "a.test"}});
  gather();
  ASSERT_TRUE(bench_.until([&] { return log_.text().find("a.test, which gets a certificate") != std::string::npos; }));
  EXPECT_THAT(shelf_.text(secret), Not(HasSubstr("maxNames")));
  certificates_.want({{"shop", kListener, "b.test"}});
  gather();
  ASSERT_TRUE(bench_.until([&] { return api_.count(kGateway) == 1; }));
  EXPECT_THAT(shelf_.text(secret), HasSubstr("maxNames")) << "not within the minute";
  // The gateway could not be read: the event comes with a later look.
  EXPECT_FALSE(told_);
  shelf_.put(kGateway, R"({"kind":"ProxyGateway","metadata":{"name":"web","namespace":"shop","uid":"u"}})");
  int polls = 0;
  EXPECT_TRUE(bench_.until([&] {
    if (++polls % 50 == 0) clock_.advance(61s);
    return told_.load();
  })) << testing::PrintToString(api_.requests());
}

// Six rounds at a CA that says nothing, and a seventh name that waits for one of them to end.
TEST_F(CertificatesFaultsTest, NamesOfACaThatStallsWakeNobody) {
  handle_ = [this](Exchange& exchange) {
    answers_.acquire();
    answers_.release();
    exchange.refuse(500, "InternalError");
  };
  compiler::OrderedCertificates wanted;
  for (int i = 0; i < 7; ++i) {
    compiler::AcmeSettings settings;
    settings.authorities.push_back({.directory = "https://ca.test/directory"});
    wanted.certificates.push_back({.name_space = "shop",
                                   .host = "a" + std::to_string(i) + ".test",
                                   .gateway = "shop/web",
                                   .settings = std::move(settings)});
  }
  certificates_.lead(true);
  certificates_.set_wanted(wanted);
  EXPECT_TRUE(bench_.until([&] { return api_.count("GET ") == 6; }));
  const std::uint64_t before = looks_;
  for (int second = 0; second < 5; ++second) {
    clock_.advance(1s);
    for (int i = 0; i < 10; ++i) bench_.loop().poll();
  }
  EXPECT_EQ(looks_, before);
  EXPECT_EQ(api_.count("GET "), 6u);
  answers_.release();
  EXPECT_TRUE(bench_.until([&] { return api_.count("acme.a6.test") == 1; }));
}

TEST_F(CertificatesFaultsTest, AFailureIsToldOnceItIsKept) {
  handle_ = [this](Exchange& exchange) {
    const bool order = exchange.method == "POST" && exchange.body.find("acme-order") != std::string::npos;
    if (order) told_ = log_.text().find("certificate for a.test") != std::string::npos;
    shelf_.handle(exchange);
  };
  compiler::AcmeSettings settings;
  settings.challenges = {compiler::ChallengeKind::kDns01};
  settings.authorities.push_back({.directory = "https://ca.test/directory", .ca_secret = "missing"});
  compiler::OrderedCertificates wanted;
  wanted.certificates.push_back(
      {.name_space = "shop", .host = "a.test", .gateway = "shop/web", .settings = std::move(settings)});
  certificates_.lead(true);
  certificates_.set_wanted(wanted);
  EXPECT_TRUE(bench_.until(
      [&] { return log_.text().find("certificate for a.test: the Secret missing") != std::string::npos; }));
  EXPECT_THAT(shelf_.text(std::string(kSecrets) + "/" + acme::order_secret_of("a.test")), Not(testing::IsEmpty()));
  EXPECT_FALSE(told_);
}

}  // namespace
}  // namespace edge::test
