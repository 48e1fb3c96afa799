#include "agent/observe/backend_metrics.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/observe/metrics.h"

namespace edge::agent {
namespace {

using metrics::Exposition;
using metrics::Format;
using testing::HasSubstr;
using testing::Not;

runtime::BackendStatus sample(const std::string& name) {
  runtime::BackendStatus backend;
  backend.name_space = "shop";
  backend.name = name;
  backend.circuit = runtime::Circuit::State::kOpen;
  backend.features = {.checks = true, .ejections = true, .circuit = true};
  backend.checks = 9;
  backend.failed_checks = 2;
  backend.ejections = 1;
  backend.retries = 4;
  backend.queued = 3;
  backend.connections = 5;
  backend.idle = 2;
  backend.connects = 8;
  backend.endpoints.push_back({.address = {*parse_ip("10.0.0.1"), 80}, .last_error = {}});
  backend.endpoints.push_back({.address = {*parse_ip("fd00::1"), 81}, .ready = false, .last_error = {}});
  return backend;
}

std::string text_of(const std::vector<runtime::BackendStatus>& backends, std::size_t room = 1000,
                    std::size_t left_out = 0) {
  Exposition out(Format::kText);
  EXPECT_EQ(write_backend_metrics(out, backends, room), left_out);
  EXPECT_LE(out.series(), room);
  return out.finish();
}

TEST(BackendMetrics, HaveTheNamesOfTheSpecification) {
  const std::string text = text_of({sample("cart")});
  EXPECT_THAT(text, HasSubstr("edge_health_check_total{backend=\"shop/cart\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("edge_health_check_success_total{backend=\"shop/cart\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("edge_health_check_failure_total{backend=\"shop/cart\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("edge_endpoint_healthy{backend=\"shop/cart\",endpoint=\"10.0.0.1:80\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_endpoint_healthy{backend=\"shop/cart\",endpoint=\"[fd00::1]:81\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("edge_circuit_breaker_state{backend=\"shop/cart\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("edge_ejections_total{backend=\"shop/cart\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_backend_retries_total{backend=\"shop/cart\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("edge_backend_pending_requests{backend=\"shop/cart\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("edge_backend_connections_idle{backend=\"shop/cart\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("edge_backend_overflows_total{backend=\"shop/cart\"} 0\n"));
}

TEST(BackendMetrics, AreByClusterWhereABackendNamesOthers) {
  runtime::BackendStatus backend = sample("cart");
  backend.clusters = {{.cluster = "", .share = 0.75}, {.cluster = "berlin", .share = 0.25, .tries = {1, 20, 3, 4}}};
  const std::string text = text_of({backend});
  EXPECT_THAT(text, HasSubstr("edge_cluster_share{backend=\"shop/cart\"} 0.75\n"));
  EXPECT_THAT(text, HasSubstr("edge_cluster_share{backend=\"shop/cart\",cluster=\"berlin\"} 0.25\n"));
  const std::string tries = "edge_cluster_tries_total{backend=\"shop/cart\",cluster=\"berlin\",outcome=";
  EXPECT_THAT(text, HasSubstr(tries + "\"unknown\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(tries + "\"success\"} 20\n"));
  EXPECT_THAT(text, HasSubstr(tries + "\"server_error\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(tries + "\"no_answer\"} 4\n"));
  EXPECT_THAT(text_of({sample("cart")}), Not(HasSubstr("edge_cluster_share{")));
}

/// A backend without a setting, of which nothing has been met.
runtime::BackendStatus plain() {
  runtime::BackendStatus backend;
  backend.name_space = "shop";
  backend.name = "plain";
  backend.endpoints.push_back({.address = {*parse_ip("10.0.0.1"), 80}, .last_error = {}});
  return backend;
}

TEST(BackendMetrics, AreThereFromTheStart) {
  const std::string text = text_of({plain()});
  for (const char* family :
       {"edge_health_check_total", "edge_health_check_success_total", "edge_health_check_failure_total",
        "edge_circuit_breaker_state", "edge_ejections_total", "edge_circuit_breaker_opened_total",
        "edge_backend_retries_total", "edge_backend_retries_refused_total"}) {
    EXPECT_THAT(text, HasSubstr(std::string(family) + "{backend=\"shop/plain\"} 0\n"));
  }
  EXPECT_THAT(text, HasSubstr("edge_endpoint_healthy{backend=\"shop/plain\",endpoint=\"10.0.0.1:80\"} 1\n"));
}

TEST(BackendMetrics, LeaveOutWhatABackendDoesNotUseWhereThereIsNoRoom) {
  const std::string text = text_of({plain()}, 10);
  for (const char* family : {"edge_health_check_total{", "edge_ejections_total{", "edge_circuit_breaker_state{",
                             "edge_backend_retries_total{"}) {
    EXPECT_THAT(text, Not(HasSubstr(family)));
  }
}

TEST(BackendMetrics, BecomeCompactAndThenFewer) {
  const std::vector<runtime::BackendStatus> backends = {sample("a"), sample("b")};
  const std::string compact = text_of(backends, 20);
  EXPECT_THAT(compact, HasSubstr("edge_health_check_total{backend=\"shop/b\"} 9\n"));
  EXPECT_THAT(compact, HasSubstr("edge_backend_connects_total{backend=\"shop/b\"} 8\n"));
  EXPECT_THAT(compact, Not(HasSubstr("edge_backend_overflows_total{")));
  EXPECT_THAT(compact, Not(HasSubstr("edge_backend_connections{")));
  EXPECT_THAT(text_of(backends, 12, 1), Not(HasSubstr("shop/b")));
}

TEST(Metrics, TellOfPrograms) {
  runtime::ServerStats stats;
  stats.requests = 7;
  stats.responses[2] = 5;
  InstallFacts installs{.installed = 2, .refused = 1, .program = "abc"};
  installs.at = std::chrono::system_clock::time_point(std::chrono::milliseconds(1500));
  installs.took = std::chrono::milliseconds(6);
  Exposition out(Format::kText);
  write_metrics(out, stats, installs);
  const std::string text = out.finish();
  EXPECT_THAT(text, HasSubstr("edge_requests_begun_total 7\n"));
  EXPECT_THAT(text, HasSubstr("edge_responses_total{class=\"2xx\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("edge_program_info{hash=\"abc\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_program_installed_timestamp_seconds 1.5\n"));
  EXPECT_THAT(text, HasSubstr("edge_program_install_duration_seconds 0.006\n"));
  Exposition none(Format::kText);
  write_metrics(none, stats, {});
  EXPECT_THAT(none.finish(), Not(HasSubstr("edge_program_info")));
}

}  // namespace
}  // namespace edge::agent
