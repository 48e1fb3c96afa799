#include "agent/observe/backend_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::agent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

runtime::BackendStatus sample() {
  runtime::BackendStatus backend;
  backend.name_space = "shop";
  backend.name = "cart";
  backend.circuit = runtime::Circuit::State::kOpen;
  backend.open_for = seconds(5);
  backend.checks = 9;
  backend.failed_checks = 2;
  backend.ejections = 1;
  backend.retries = 4;
  backend.queued = 3;
  backend.endpoints.push_back({.address = {*parse_ip("10.0.0.1"), 80},
                               .health = runtime::Health::kHealthy,
                               .in_use = true,
                               .last_check = std::chrono::system_clock::time_point(seconds(1)),
                               .last_error = {}});
  backend.endpoints.push_back({.address = {*parse_ip("fd00::1"), 81},
                               .health = runtime::Health::kUnhealthy,
                               .ejected_for = seconds(30),
                               .last_check = std::chrono::system_clock::time_point(seconds(2)),
                               .last_error = "status 503"});
  return backend;
}

TEST(BackendReport, TellsOfEachEndpoint) {
  const std::string json =
      endpoints_document(std::vector{sample()}, std::chrono::system_clock::time_point(seconds(1'000'000'000)));
  EXPECT_THAT(json, HasSubstr(R"("healthyCount": 1,
      "unhealthyCount": 1,
      "circuit": {
        "state": "Open",
        "opened": 0,
        "openUntil": "2001-09-09T01:46:45.000Z"
      })"));
  EXPECT_THAT(json, HasSubstr(R"("address": "10.0.0.1:80",
          "healthy": true,
          "health": "Healthy",
          "ready": true,
          "inUse": true,
          "lastCheck": "1970-01-01T00:00:01.000Z",
          "lastError": ""
        })"));
  EXPECT_THAT(json, HasSubstr(R"("lastError": "status 503",
          "ejectedUntil": "2001-09-09T01:47:10.000Z")"));
}

TEST(BackendReport, OneThatWasNeverCheckedHasNoTime) {
  runtime::BackendStatus backend = sample();
  backend.endpoints[0].last_check = {};
  backend.endpoints.resize(1);
  EXPECT_THAT(endpoints_document(std::vector{backend}, {}), Not(HasSubstr("lastCheck")));
  EXPECT_EQ(endpoints_document({}, {}), "{\n  \"backends\": []\n}\n");
}

}  // namespace
}  // namespace edge::agent
