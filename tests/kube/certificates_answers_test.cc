// Whose answers to challenges agents are given of the Secrets of orders: of names that are ordered there, as another
// controller, or its successor, has stored them.
#include <gmock/gmock.h>

#include "base/test_log.h"
#include "controller/acme/certificates.h"
#include "program/values/ordered_certificates.h"
#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

namespace acme = controller::acme;
using testing::ElementsAre;
using testing::IsEmpty;

class CertificatesAnswersTest : public testing::Test {
 protected:
  void TearDown() override {
    bool stopped = false;
    certificates_.stop([&stopped] { stopped = true; });
    EXPECT_TRUE(bench_.until([&stopped] { return stopped; }));
  }
  void want(const std::vector<std::string>& hosts) {
    compiler::OrderedCertificates wanted;
    for (const std::string& host : hosts)
      wanted.certificates.push_back({.name_space = "shop", .host = host, .gateway = "shop/web", .settings = {}});
    certificates_.set_wanted(wanted);
  }
  /// The Secret of an order, as somebody has written it.
  void store(const std::string& space, const std::string& name, const std::string& host,
             const std::map<std::string, std::string>& answers) {
    certificates_.observe(space, name,
                          acme::write_secret({.name_space = space,
                                              .name = name,
                                              .role = "order",
                                              .host = host,
                                              .data = {{std::string(acme::kAnswersKey), acme::write_answers(answers)}}},
                                             "7"));
  }
  /// Keys of what agents answer.
  std::vector<std::string> given() const {
    std::vector<std::string> keys;
    if (given_ != nullptr) {
      for (const auto& value : given_->values) keys.push_back(value.key);
    }
    return keys;
  }

  FakeApi api_{[](Exchange& exchange) { exchange.refuse(404, "NotFound"); }};
  net::ManualClock clock_;
  TestLog log_;
  std::shared_ptr<const program::NamedSecret> given_;
  Bench bench_{config_of(api_.url()), {.tries = 0}, &clock_};
  acme::Certificates certificates_{bench_.client(),
                                   {.identity = "one", .log = log_.logger()},
                                   {.challenges =
                                        [this](auto secret) {
                                          given_ = std::move(secret);
                                          return std::uint64_t{1};
                                        },
                                    .acknowledged = [](std::uint64_t) { return true; },
                                    .reach = [] { return acme::AgentsReach{}; }}};
};

TEST_F(CertificatesAnswersTest, ThoseOfNamesThatAreOrderedThereAreGivenAndNoOthers) {
  const std::string own = program::http_challenge_key("a.test", "token");
  const std::string tls = program::alpn_challenge_key("a.test");
  const std::string victims = program::http_challenge_key("victim.test", "token");
  want({"a.test"});
  store("shop", acme::order_secret_of("a.test"), "a.test",
        {{own, "x"}, {tls, "y"}, {victims, "x"}, {"http-01 a.test.evil/t", "x"}});
  EXPECT_THAT(given(), ElementsAre(own, tls));
  // A namespace that does not order the name, another name's Secret, a name that nobody orders.
  store("evil", acme::order_secret_of("a.test"), "a.test", {{own + "2", "x"}});
  store("shop", "acme-order-mine", "a.test", {{own + "2", "x"}});
  store("shop", acme::order_secret_of("victim.test"), "victim.test", {{victims, "x"}});
  EXPECT_THAT(given(), ElementsAre(own, tls));
  // Once it is ordered, what was stored before counts; and no longer than that.
  want({"a.test", "victim.test"});
  EXPECT_THAT(given(), ElementsAre(own, victims, tls));
  want({});
  EXPECT_THAT(given(), IsEmpty());
}

}  // namespace
}  // namespace edge::test
