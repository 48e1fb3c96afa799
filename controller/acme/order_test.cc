// The order's state machine in simulation: a CA that follows RFC 8555 and one that does not, with the performer
// replaced at any step.
#include "controller/acme/order.h"

#include <ctime>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/acme/certificate_crypto.h"
#include "controller/acme/reach.h"
#include "controller/acme/rounds.h"
#include "controller/acme/test_ca.h"

namespace edge::controller::acme {
namespace {

using compiler::ChallengeKind;
using nlohmann::json;

constexpr std::int64_t kStart = 1'800'000'000;

Order::Settings settings_of(std::vector<ChallengeKind> challenges) {
  return {.challenges = std::move(challenges), .new_order = "https://ca.test/new-order"};
}

OrderState new_state(const std::string& host) {
  OrderState state{.host = host, .directory = "https://ca.test/dir"};
  state.key = *make_key(compiler::CertificateKeyType::kEc256);
  return state;
}

/// Performs until the end. `dies`: returns whether the performer is replaced before the next action, by one that knows
/// what was stored alone.
template <typename Dies>
Order carry_out(TestCa& ca, Order order, const Order::Settings& settings, Dies dies,
                std::int64_t now = std::time(nullptr)) {
  for (int i = 0; i < 1000; ++i) {
    if (dies()) order = Order(*read_order_state(write_order_state(order.state())), settings);
    const Action action = order.next();
    if (action.kind == Action::Kind::kDone || action.kind == Action::Kind::kFailed) return order;
    if (action.kind == Action::Kind::kWait) {
      ca.pass_time(action.seconds);
      order.waited();
    } else if (action.kind == Action::Kind::kPresent) {
      ca.present(order.challenge());
      order.presented();
    } else {
      order.take(ca.answer(action.url, action.payload), now);
    }
  }
  ADD_FAILURE() << "the order does not come to an end";
  return order;
}

TEST(Order, GetsACertificateByEachChallenge) {
  for (const ChallengeKind kind : {ChallengeKind::kHttp01, ChallengeKind::kTlsAlpn01, ChallengeKind::kDns01}) {
    TestCa ca;
    const auto settings = settings_of({kind});
    const Order order = carry_out(ca, Order(new_state("a.example.test"), settings), settings, [] { return false; });
    ASSERT_EQ(order.next().kind, Action::Kind::kDone) << order.fault().text;
    const auto view = view_certificate(order.chain(), order.state().key);
    ASSERT_TRUE(view.ok()) << view.error().text;
    EXPECT_TRUE(view->is_for("a.example.test"));
    EXPECT_EQ(ca.orders(), 1);
  }
}

TEST(Order, TriesTheNextWayToValidateWithANewOrder) {
  TestCa ca;
  ca.fails_by(ChallengeKind::kTlsAlpn01);
  const auto settings = settings_of({ChallengeKind::kTlsAlpn01, ChallengeKind::kHttp01});
  const Order order = carry_out(ca, Order(new_state("a.example.test"), settings), settings, [] { return false; });
  EXPECT_EQ(order.next().kind, Action::Kind::kDone) << order.fault().text;
  EXPECT_EQ(ca.orders(), 2);
  ca.fails_by(ChallengeKind::kHttp01);
  const Order failed = carry_out(ca, Order(new_state("b.example.test"), settings), settings, [] { return false; });
  EXPECT_EQ(failed.next().kind, Action::Kind::kFailed);
  EXPECT_NE(failed.fault().text.find("http-01, unauthorized"), std::string::npos) << failed.fault().text;
}

/// Whatever the schedule of waits, of answers that are lost, and of performers that come and go: one order, but where
/// the answer to its creation was lost, and a certificate in the end.
TEST(Order, SurvivesEverySchedule) {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    TestCa ca(seed);
    const auto settings = settings_of({ChallengeKind::kHttp01});
    const Order order =
        carry_out(ca, Order(new_state("a.example.test"), settings), settings, [&] { return random() % 4 == 0; });
    ASSERT_EQ(order.next().kind, Action::Kind::kDone) << "seed " << seed << ": " << order.fault().text;
    ASSERT_EQ(ca.orders(), 1) << "seed " << seed;
  }
}

TEST(Order, BelievesNoCaThatLies) {
  using Lie = TestCa::Lie;
  for (const Lie lie : {Lie::kOtherName, Lie::kOtherCertificate, Lie::kOtherKey, Lie::kPlainUrl, Lie::kNoUrl,
                        Lie::kTwoAuthorizations, Lie::kNoStatus, Lie::kNoJson, Lie::kStrangeToken, Lie::kForEver}) {
    TestCa ca;
    ca.lies(lie);
    const auto settings = settings_of({ChallengeKind::kHttp01});
    const Order order = carry_out(ca, Order(new_state("a.example.test"), settings), settings, [] { return false; });
    EXPECT_EQ(order.next().kind, Action::Kind::kFailed) << static_cast<int>(lie);
    EXPECT_FALSE(order.fault().text.empty());
    EXPECT_LT(ca.requests(), 200);
  }
}

TEST(Order, TakesNoCertificateThatIsOver) {
  TestCa ca;
  const auto settings = settings_of({ChallengeKind::kHttp01});
  constexpr std::int64_t kLifetime = 90LL * 24 * 3600;
  const auto never = [] { return false; };
  const Order fine = carry_out(ca, Order(new_state("a.example.test"), settings), settings, never,
                               std::time(nullptr) + kLifetime - 600);
  EXPECT_EQ(fine.next().kind, Action::Kind::kDone) << fine.fault().text;
  const Order over =
      carry_out(ca, Order(new_state("b.example.test"), settings), settings, never, std::time(nullptr) + kLifetime);
  EXPECT_EQ(over.next().kind, Action::Kind::kFailed);
  EXPECT_NE(over.fault().text.find("over by this machine's clock"), std::string::npos) << over.fault().text;
}

TEST(Order, SaysWhatTheCaSays) {
  const auto settings = settings_of({ChallengeKind::kHttp01});
  Order order(new_state("a.example.test"), settings);
  order.take({.status = 429,
              .retry_after = 7200,
              .body = R"({"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many\nof them"})"},
             kStart);
  EXPECT_EQ(order.next().kind, Action::Kind::kFailed);
  EXPECT_EQ(order.fault().text, "ordering: rateLimited: too many?of them");
  EXPECT_TRUE(order.fault().limited());
  EXPECT_EQ(order.fault().retry_after, 7200);
  Order gone(new_state("a.example.test"), settings);
  gone.take({.status = 400, .body = R"({"type":"urn:ietf:params:acme:error:accountDoesNotExist"})"}, kStart);
  EXPECT_TRUE(gone.fault().account_gone);
}

TEST(Order, OrdersWithoutReplacingWhatTheCaDoesNotKnow) {
  auto settings = settings_of({ChallengeKind::kHttp01});
  settings.replaces = "abc.def";
  Order order(new_state("a.example.test"), settings);
  EXPECT_NE(order.next().payload.find("\"replaces\":\"abc.def\""), std::string::npos);
  order.take({.status = 409, .body = R"({"type":"urn:ietf:params:acme:error:alreadyReplaced"})"}, kStart);
  EXPECT_EQ(order.next().kind, Action::Kind::kPost);
  EXPECT_EQ(order.next().payload.find("replaces"), std::string::npos);
}

TEST(OrderState, IsReadAsItWasWritten) {
  OrderState state = new_state("*.example.test");
  state.url = "https://ca.test/order/1";
  state.failed = {ChallengeKind::kDns01};
  state.failures = 3;
  state.staging = true;
  state.not_before = kStart + 5;
  state.fault = "no \"way\"";
  state.waits_for = "a listener";
  EXPECT_EQ(read_order_state(write_order_state(state)), state);
  EXPECT_FALSE(read_order_state("{}"));
  EXPECT_FALSE(read_order_state("[" + std::string(100'000, ' ') + "]"));
}

TEST(Reach, IsReadAsItWasWritten) {
  const std::vector<UnreachedListener> listeners = {{7, "http", "*:80, agent one: in use"}, {8, "a/set/https", "x"}};
  EXPECT_EQ(read_unreached(write_unreached(listeners)), listeners);
  // Of another version, or somebody else's.
  EXPECT_TRUE(read_unreached("x http y\n7\n7 \n7 http\n\n99999999999999999999999 http x\n").empty());
  const std::vector<UnreachedListener> many(1000, {1, "http", std::string(5000, 'x')});
  EXPECT_EQ(read_unreached(write_unreached(many)).size(), 64U);
  EXPECT_EQ(read_unreached(write_unreached({{1, "http", "two\nlines"}})).front().reason, "two?lines");
}

// ---- Rounds -------------------------------------------------------------------------------------------------------

compiler::AcmeSettings two_cas() {
  compiler::AcmeSettings settings;
  settings.authorities = {{.directory = "https://one.test/dir", .staging = "https://one.test/staging"},
                          {.directory = "https://two.test/dir"}};
  return settings;
}

TEST(Rounds, GoThroughTheCasThenWait) {
  const auto settings = two_cas();
  OrderState state{.host = "a.test", .directory = {}};
  begin_round(state, settings, kStart);
  EXPECT_EQ(state.directory, "https://one.test/dir");
  end_round(state, settings, {.text = "no"}, kStart, 0);
  EXPECT_LE(state.not_before, kStart + 5);
  begin_round(state, settings, state.not_before);
  EXPECT_EQ(state.directory, "https://two.test/dir");
  end_round(state, settings, {.text = "no"}, kStart, 0);
  EXPECT_GE(state.not_before, kStart + 300);
  // After two failures the first CA is tried by its staging directory.
  begin_round(state, settings, state.not_before);
  EXPECT_EQ(state.directory, "https://one.test/staging");
  end_trial(state, kStart + 400);
  begin_round(state, settings, kStart + 400);
  EXPECT_EQ(state.directory, "https://one.test/dir");
  EXPECT_EQ(state.not_before, kStart + 400);
}

TEST(Rounds, StayWithinTheLimitsOfTheCa) {
  compiler::AcmeSettings settings;
  settings.authorities = {{.directory = "https://one.test/dir"}};
  OrderState state{.host = "a.test", .directory = {}};
  std::int64_t now = kStart;
  std::vector<std::int64_t> rounds;
  while (now < kStart + 48 * 3600) {
    begin_round(state, settings, now);
    rounds.push_back(now);
    end_round(state, settings, {.text = "no"}, now, share_of("a.test"));
    now = state.not_before;
  }
  // Five failed validations of a name an hour.
  for (std::size_t i = 0; i + 5 < rounds.size(); ++i) EXPECT_GT(rounds[i + 5] - rounds[i], 3600);
  EXPECT_LT(rounds.size(), 13U);
  end_round(state, settings, {.text = "limited", .kind = FailureKind::kLimited, .retry_after = 7200}, now, 0);
  EXPECT_EQ(state.not_before, now + 7200);
  // A clock that was set back leaves no wait of years.
  begin_round(state, settings, now - 400LL * 24 * 3600);
  EXPECT_LE(state.not_before, now - 400LL * 24 * 3600);
}

TEST(Rounds, WaitAsLongAsTheCaMayAskFor) {
  compiler::AcmeSettings settings;
  settings.authorities = {{.directory = "https://one.test/dir"}};
  OrderState state{.host = "a.test", .directory = {}};
  begin_round(state, settings, kStart);
  constexpr std::int64_t kWeek = 7LL * 24 * 3600;
  end_round(state, settings, {.text = "no", .kind = FailureKind::kLimited, .retry_after = kWeek}, kStart, 0.99);
  const std::int64_t until = state.not_before;
  EXPECT_GT(until, kStart + kWeek);
  begin_round(state, settings, kStart + 1);
  EXPECT_EQ(state.not_before, until);
}

TEST(Rounds, AreClaimedForAMinuteByAnotherController) {
  OrderState state{.host = "a.test", .directory = "https://one.test/dir"};
  state.owner = "one";
  state.created = kStart;
  EXPECT_TRUE(is_claimed(state, "two", kStart + 59));
  EXPECT_FALSE(is_claimed(state, "two", kStart + 60));
  EXPECT_FALSE(is_claimed(state, "one", kStart));
  EXPECT_TRUE(is_claimed(state, "two", kStart - 59)) << "clocks differ";
  EXPECT_FALSE(is_claimed(state, "two", kStart - 60)) << "the clock was set back";
  state.url = "https://one.test/order/1";
  EXPECT_FALSE(is_claimed(state, "two", kStart));
}

TEST(Rounds, RenewAsTheCaAdvisesOrAtTwoThirds) {
  constexpr std::int64_t kDay = 24LL * 3600;
  CertificateView view;
  view.from = kStart;
  view.until = kStart + 90 * kDay;
  EXPECT_EQ(renewal_time(view, std::nullopt, 0), kStart + 60 * kDay);
  EXPECT_GT(renewal_time(view, std::nullopt, 0.99), kStart + 55 * kDay);
  const RenewalAdvice soon{.from = kStart + 30 * kDay, .until = kStart + 32 * kDay};
  EXPECT_EQ(renewal_time(view, soon, 0.5), kStart + 31 * kDay);
  // "At once", for ever.
  const RenewalAdvice always{.from = kStart - 2 * kDay, .until = kStart - kDay};
  EXPECT_EQ(renewal_time(view, always, 0), kStart + kDay);
  // "Never": it is renewed before it ends all the same.
  const RenewalAdvice never{.from = kStart + 9000 * kDay, .until = kStart + 9001 * kDay};
  EXPECT_EQ(renewal_time(view, never, 0), kStart + 81 * kDay);
  // Of a certificate that ends before it begins.
  view.until = kStart - kDay;
  EXPECT_EQ(renewal_time(view, soon, 0), kStart);
}

}  // namespace
}  // namespace edge::controller::acme
