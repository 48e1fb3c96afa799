#include "agent/health_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::agent {
namespace {

using runtime::BackendStatus;
using runtime::Circuit;
using runtime::Health;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr HealthLog::WallTime kNow{std::chrono::seconds(1'700'000'000)};

BackendStatus cart() {
  BackendStatus backend;
  backend.id = 7;
  backend.name_space = "shop";
  backend.name = "cart";
  for (const char* address : {"10.0.0.1", "10.0.0.2"}) {
    backend.endpoints.push_back({.address = {*parse_ip(address), 80}, .health = Health::kHealthy, .last_error = {}});
  }
  return backend;
}

class HealthLogTest : public testing::Test {
 protected:
  std::vector<std::string> look(const std::vector<BackendStatus>& backends,
                                const std::vector<runtime::CertificateExpiry>& certificates = {},
                                const std::vector<runtime::UnboundListener>& unbound = {}) {
    return log_.look({backends, certificates, unbound}, now_ += std::chrono::seconds(1));
  }

  HealthLog log_;
  HealthLog::WallTime now_ = kNow;
};

TEST_F(HealthLogTest, AnEndpointIsToldOnceWhenItGoesDownAndOnceWhenItComesBack) {
  BackendStatus backend = cart();
  EXPECT_THAT(look({backend}), IsEmpty());
  backend.endpoints[0].health = Health::kUnhealthy;
  backend.endpoints[0].last_error = "connection refused";
  EXPECT_THAT(look({backend}), ElementsAre("endpoint 10.0.0.1:80 of backend shop/cart is down: connection refused"));
  backend.endpoints[0].last_error = "timeout";
  EXPECT_THAT(look({backend}), IsEmpty());
  ASSERT_EQ(log_.troubles().listed.size(), 1u);
  EXPECT_EQ(log_.troubles().listed[0].since, kNow + std::chrono::seconds(2));
  backend.endpoints[0].health = Health::kHealthy;
  EXPECT_THAT(look({backend}), ElementsAre("endpoint 10.0.0.1:80 of backend shop/cart is up again"));
  EXPECT_THAT(log_.troubles().listed, IsEmpty());
}

TEST_F(HealthLogTest, ABackendWithoutAnyIsToldToo) {
  BackendStatus backend = cart();
  for (auto& endpoint : backend.endpoints) endpoint.ejected_for = std::chrono::seconds(30);
  EXPECT_THAT(look({backend}),
              ElementsAre("backend shop/cart has no endpoint that takes requests",
                          "endpoint 10.0.0.1:80 of backend shop/cart is ejected because of its answers",
                          "endpoint 10.0.0.2:80 of backend shop/cart is ejected because of its answers"));
  EXPECT_THAT(look({cart()}), ElementsAre("backend shop/cart has endpoints that take requests again",
                                          "endpoint 10.0.0.1:80 of backend shop/cart is ejected no longer",
                                          "endpoint 10.0.0.2:80 of backend shop/cart is ejected no longer"));
}

TEST_F(HealthLogTest, ACircuitIsToldThoughNobodyLookedWhileItWasOpen) {
  BackendStatus backend = cart();
  look({backend});
  backend.circuit = Circuit::State::kOpen;
  backend.circuit_opened = 1;
  EXPECT_THAT(look({backend}), ElementsAre("the circuit of backend shop/cart is open"));
  backend.circuit = Circuit::State::kHalfOpen;
  EXPECT_THAT(look({backend}), IsEmpty());
  backend.circuit = Circuit::State::kClosed;
  EXPECT_THAT(look({backend}), ElementsAre("the circuit of backend shop/cart is closed again"));
  backend.circuit_opened = 2;
  EXPECT_THAT(look({backend}), ElementsAre("the circuit of backend shop/cart was open and is closed again"));
}

TEST_F(HealthLogTest, ConnectionsThatAllFailAreTold) {
  BackendStatus backend = cart();
  look({backend});
  backend.connects = backend.connect_failures = 3;
  EXPECT_THAT(look({backend}), ElementsAre("connections to backend shop/cart fail"));
  // Nobody tries: it is as it was.
  EXPECT_THAT(look({backend}), IsEmpty());
  EXPECT_EQ(log_.troubles().listed.size(), 1u);
  backend.connects = 5;
  backend.connect_failures = 4;
  EXPECT_THAT(look({backend}), ElementsAre("connections to backend shop/cart succeed again"));
}

TEST_F(HealthLogTest, ACertificateIsToldNearItsEndAndAtIt) {
  const auto at = [](std::chrono::seconds from_now) {
    return std::vector<runtime::CertificateExpiry>{
        {"shop/tls", std::chrono::duration_cast<std::chrono::seconds>((kNow + from_now).time_since_epoch()).count()}};
  };
  EXPECT_THAT(look({}, at(std::chrono::days(15))), IsEmpty());
  EXPECT_THAT(look({}, at(std::chrono::days(14))),
              ElementsAre(HasSubstr("certificate of secret shop/tls expires in 13 days: 2023-11-28T")));
  EXPECT_THAT(look({}, at(std::chrono::days(13))), IsEmpty());
  EXPECT_THAT(look({}, at(std::chrono::seconds(4))),
              ElementsAre(HasSubstr("certificate of secret shop/tls has expired: 2023-11-14T")));
  EXPECT_THAT(look({}, at(std::chrono::days(90))),
              ElementsAre("certificate of secret shop/tls is replaced by one that lasts"));
}

TEST_F(HealthLogTest, OfAListenerTheEndAloneIsToldHere) {
  runtime::UnboundListener https;
  https.name_space = "shop";
  https.gateway = "gw";
  https.listener = "https";
  https.fault = runtime::ListenFault::kCertificate;
  https.reason = "no certificate can be shown";
  EXPECT_THAT(look({}, {}, {https}), IsEmpty());
  ASSERT_EQ(log_.troubles().listed.size(), 1u);
  EXPECT_EQ(log_.troubles().listed[0].text, "listener shop/gw/https: no certificate can be shown");
  EXPECT_THAT(look({}), ElementsAre("listener shop/gw/https serves"));
}

// A peer decides how often its endpoints turn, and how many there are.
TEST_F(HealthLogTest, TellsSoManyLinesAMinute) {
  std::size_t lines = 0;
  for (int second = 0; second < 59; ++second) {
    BackendStatus backend = cart();
    backend.endpoints.clear();
    for (int i = 1; i <= 250; ++i) {
      backend.endpoints.push_back({.address = {*parse_ip("10.0.0." + std::to_string(i)), 80},
                                   .health = second % 2 == 0 ? Health::kUnhealthy : Health::kHealthy,
                                   .last_error = {}});
    }
    lines += look({backend}).size();
  }
  EXPECT_EQ(lines, HealthLog::kMostLines);
  EXPECT_EQ(log_.troubles().listed.size(), HealthLog::kMostListed);
  EXPECT_EQ(log_.troubles().more, 51u);
  now_ += std::chrono::seconds(2);
  EXPECT_THAT(look({cart()}).front(), HasSubstr(" more changes of backends, certificates and listeners were not"));
}

TEST_F(HealthLogTest, WhatIsServedNoMoreIsNoTrouble) {
  BackendStatus backend = cart();
  backend.endpoints[0].health = Health::kUnhealthy;
  look({backend});
  look({});
  EXPECT_THAT(log_.troubles().listed, IsEmpty());
}

}  // namespace
}  // namespace edge::agent
