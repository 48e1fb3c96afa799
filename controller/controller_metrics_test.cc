#include "controller/controller_metrics.h"

#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/federation/sample_view.h"
#include "controller/federation_metrics.h"
#include "program/read.h"

namespace edge::controller {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

ReconcileResult program(std::uint64_t number) {
  ReconcileResult result;
  result.program = std::make_shared<const std::vector<std::byte>>(100);
  result.hash[0] = static_cast<std::uint8_t>(number);
  result.number = number;
  result.program_changed = true;
  result.runs = 1;
  result.stats.link = milliseconds(3);
  return result;
}

class ControllerMetricsTest : public testing::Test {
 protected:
  std::string text(const ControllerMetrics::Scene& scene = {}) const {
    metrics::Exposition out(metrics::Format::kText);
    metrics_.write(out, scene);
    return out.finish();
  }
  static AgentsView running(std::vector<std::uint64_t> programs) {
    AgentsView view;
    view.programs = std::move(programs);
    return view;
  }

  ControllerMetrics metrics_;
  ControllerMetrics::Clock::time_point now_{std::chrono::hours(1)};
};

TEST_F(ControllerMetricsTest, TellsOfCompiles) {
  metrics_.reconciled(program(1), milliseconds(4), now_);
  ReconcileResult failed;
  failed.runs = 1;
  metrics_.reconciled(failed, milliseconds(1), now_);
  ReconcileResult values;
  values.values_changed = true;
  metrics_.reconciled(values, milliseconds(1), now_);
  metrics_.held_back(2);
  const std::string said = text();
  EXPECT_THAT(said, HasSubstr("edge_controller_compiles_total 2\n")) << "values alone are no compile";
  EXPECT_THAT(said, HasSubstr("edge_controller_compile_failures_total 1\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_compile_duration_seconds_bucket{le=\"0.005\"} 2\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_compile_stage_seconds_total{stage=\"link\"} 0.003\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_program_bytes 100\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_resources_held_back 2\n"));
}

TEST_F(ControllerMetricsTest, TellsWhatWaitsAndForHowLong) {
  ReconcileResult result = program(1);
  result.waited = milliseconds(30);
  metrics_.reconciled(result, milliseconds(4), now_);
  metrics_.wrote_status(milliseconds(2));
  ControllerMetrics::Scene scene;
  scene.changes_waiting = 7;
  scene.cluster.statuses.waiting = 3;
  scene.cluster.statuses.conflicts = 2;
  const std::string said = text(scene);
  EXPECT_THAT(said, HasSubstr("edge_controller_queue_depth{queue=\"changes\"} 7\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_queue_depth{queue=\"statuses\"} 3\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_status_conflicts_total 2\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_queue_duration_seconds_bucket{le=\"0.05\"} 1\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_status_write_duration_seconds_sum 0.002\n"));
}

TEST(TraceMetrics, TellWhatTheStoreRefused) {
  metrics::Exposition out(metrics::Format::kText);
  traces::TraceCounts counts;
  counts.spans_refused = 4;
  write_trace_counts(out, counts);
  EXPECT_THAT(out.finish(), HasSubstr("edge_traces_spans_refused_total 4\n"));
}

TEST_F(ControllerMetricsTest, TellsWhichProgramEachAgentRuns) {
  metrics_.reconciled(program(1), milliseconds(4), now_);
  const std::string hash = program::to_hex(program(1).hash);
  const auto agent = [&](const std::string& name, bool connected, const std::string& runs) {
    AgentState state;
    state.name = name;
    state.connected = connected;
    state.program = runs;
    state.published = name == "canary" ? "old" : hash;
    return state;
  };
  const std::vector<AgentState> agents = {agent("a", true, hash), agent("b", true, "old"), agent("canary", true, "old"),
                                          agent("gone", false, hash)};
  const std::string said = text({.cluster = {}, .agents = agents});
  EXPECT_THAT(said, HasSubstr("edge_agent_program_info{agent=\"a\",hash=\"" + hash + "\"} 1\n"));
  EXPECT_THAT(said, HasSubstr("edge_agent_program_current{agent=\"a\"} 1\n"));
  EXPECT_THAT(said, HasSubstr("edge_agent_program_current{agent=\"b\"} 0\n"));
  EXPECT_THAT(said, HasSubstr("edge_agent_program_current{agent=\"canary\"} 1\n")) << "its group is held to it";
  EXPECT_THAT(said, HasSubstr("edge_controller_agents_connected 3\n"));
  EXPECT_THAT(said, Not(HasSubstr("gone")));
}

TEST_F(ControllerMetricsTest, TellsOfOrderedCertificatesWhereItLeads) {
  ClusterCounts cluster;
  acme::CertificateCounts& counts = cluster.certificates;
  counts.valid = 3;
  counts.missing_waiting = 2;
  counts.issued = 4;
  counts.renewed = 1;
  counts.failed[static_cast<std::size_t>(acme::FailureKind::kLimited)] = 5;
  counts.revoked = 2;
  counts.failed[static_cast<std::size_t>(acme::FailureKind::kValidation)] = 1;
  counts.times[{"shop", "a.example"}] = {.until = 1'800'000'000, .renewal = 1'700'000'000};
  counts.times[{"shop", "missing.example"}] = {};
  EXPECT_THAT(text({.cluster = cluster, .agents = {}}), Not(HasSubstr("edge_acme_")));
  cluster.leads = true;
  counts.names = {.any = true, .names = 7, .decided = {4, 3, 2, 1}};
  const std::string said = text({.cluster = cluster, .agents = {}});
  EXPECT_THAT(said, HasSubstr("edge_acme_certificates{state=\"valid\"} 3\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_certificates{state=\"renewal-failed\"} 0\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_certificates{state=\"failed\"} 2\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_orders_total{result=\"issued\"} 4\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_orders_total{result=\"failed\"} 6\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_failures_total{kind=\"rate-limited\"} 5\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_revoked_total 2\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_on_demand_names 7\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_on_demand_decisions_total{result=\"unanswered\"} 2\n"));
  const std::string of = "{namespace=\"shop\",host=\"a.example\"} ";
  EXPECT_THAT(said, HasSubstr("edge_acme_certificate_expiry_timestamp_seconds" + of + "1800000000\n"));
  EXPECT_THAT(said, HasSubstr("edge_acme_certificate_renewal_timestamp_seconds" + of + "1700000000\n"));
  EXPECT_THAT(said, Not(HasSubstr("missing.example")));
}

TEST_F(ControllerMetricsTest, MeasuresUntilAllAgentsRunAProgram) {
  metrics_.reconciled(program(1), milliseconds(4), now_);
  metrics_.reconciled(program(2), milliseconds(4), now_ + milliseconds(10));
  metrics_.looked(running({0, 1}), now_ + milliseconds(20));
  EXPECT_THAT(text(), HasSubstr("edge_controller_distribution_duration_seconds_count 0\n"));
  metrics_.looked(running({1, 2}), now_ + milliseconds(30));
  EXPECT_THAT(text(), HasSubstr("edge_controller_distribution_duration_seconds_count 1\n"));
  metrics_.looked(running({2, 2}), now_ + milliseconds(40));
  const std::string said = text();
  EXPECT_THAT(said, HasSubstr("edge_controller_distribution_duration_seconds_count 2\n"));
  EXPECT_THAT(said, HasSubstr("edge_controller_distribution_duration_seconds_sum 0.06\n"));
}

TEST_F(ControllerMetricsTest, CountsObjectsByKind) {
  ClusterCounts cluster;
  cluster.by_kind = {{"ProxyRoute", 7}};
  EXPECT_THAT(text({.cluster = cluster, .agents = {}}),
              HasSubstr("edge_controller_resources{kind=\"ProxyRoute\"} 7\n"));
}

TEST(ClusterMetrics, TellOfClustersAndOfTheHub) {
  using remote::Phase;
  remote::RemoteViews views;
  views["shop/berlin"] = {.phase = {Phase::kDegraded, "AgentsOutdated", ""},
                          .report = remote::Report{.lag = milliseconds(2'500)},
                          .round_trip = milliseconds(80),
                          .silence = milliseconds(500),
                          .connections = 3,
                          .refused = 2};
  views["shop/paris"] = {.phase = {Phase::kDisconnected, "Silent", ""}};
  metrics::Exposition out(metrics::Format::kText);
  write_remotes(out, views);
  const WallTime now{std::chrono::hours(1)};
  const remote::SpokeView spoke{.hub = "hub.example:9443",
                                .cluster = "berlin",
                                .phase = {Phase::kConnected, "ProbedBothWays", ""},
                                .certificate_until = now + std::chrono::minutes(1),
                                .round_trip = milliseconds(40),
                                .connections = 1};
  write_spoke(out, &spoke, now);
  const std::string text = out.finish();
  for (const char* line : {"edge_remote_cluster_connected{cluster=\"shop/berlin\"} 1\n",
                           "edge_remote_cluster_connected{cluster=\"shop/paris\"} 0\n",
                           "edge_remote_cluster_phase{cluster=\"shop/paris\",phase=\"Disconnected\"} 1\n",
                           "edge_remote_cluster_silence_seconds{cluster=\"shop/berlin\"} 0.5\n",
                           "edge_remote_cluster_round_trip_seconds{cluster=\"shop/berlin\"} 0.08\n",
                           "edge_remote_cluster_lag_seconds{cluster=\"shop/berlin\"} 2.5\n",
                           "edge_remote_cluster_connections_total{cluster=\"shop/berlin\"} 3\n",
                           "edge_remote_cluster_refused_total{cluster=\"shop/berlin\"} 2\n",
                           "edge_hub_connected{hub=\"hub.example:9443\"} 1\n",
                           "edge_hub_round_trip_seconds{hub=\"hub.example:9443\"} 0.04\n",
                           "edge_hub_connections_total{hub=\"hub.example:9443\"} 1\n",
                           "edge_hub_certificate_seconds{hub=\"hub.example:9443\"} 60.0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(FederationMetrics, SayWhatTheViewHas) {
  federation::SampleFederation sample;
  metrics::Exposition out(metrics::Format::kText);
  write_federation(out, sample.view());
  const std::string text = out.finish();
  for (const char* line :
       {"edge_federation_objects{kind=\"ProxyRoute\"} 2\n", "edge_federation_conflicts{kind=\"ProxyRoute\"} 1\n",
        "edge_federation_state_bytes 2048\n", "edge_federation_peer_connected{peer=\"paris\"} 0\n",
        "edge_federation_peer_lag_versions{peer=\"paris\"} 3\n",
        "edge_federation_peer_lag_seconds{peer=\"paris\"} 90.0\n",
        "edge_federation_sent_bytes_total{peer=\"berlin\"} 5000\n",
        "edge_federation_received_versions_total{peer=\"berlin\"} 12\n",
        "edge_federation_refused_versions_total{peer=\"berlin\",by=\"here\"} 2\n",
        "edge_federation_deletions{kind=\"ProxyRoute\"} 1\n", "edge_federation_unapplied_objects 0\n",
        "edge_federation_dropped_versions_total 0\n", "edge_federation_comparisons_total{peer=\"berlin\"} 0\n",
        "edge_federation_differences_total{peer=\"berlin\"} 0\n",
        "edge_federation_received_bytes_total{peer=\"berlin\"} 0\n",
        "edge_federation_sent_versions_total{peer=\"berlin\"} 0\n",
        "edge_federation_peer_quota_ratio{peer=\"berlin\"} 0.0\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(FederationMetrics, OfWhoDoesNotLeadHaveNoSample) {
  federation::SampleFederation sample;
  sample.leads = false;
  metrics::Exposition out(metrics::Format::kText);
  write_federation(out, sample.view());
  EXPECT_THAT(out.finish(), Not(HasSubstr("edge_federation_objects{")));
  metrics::Exposition none(metrics::Format::kText);
  write_federation(none, {});
  EXPECT_THAT(none.finish(), Not(HasSubstr("\nedge_federation_state_bytes ")));
}

TEST(ClusterMetrics, WithoutAHubHaveNoSample) {
  metrics::Exposition out(metrics::Format::kText);
  write_spoke(out, nullptr, WallTime());
  const std::string text = out.finish();
  EXPECT_THAT(text, HasSubstr("# TYPE edge_hub_connected gauge\n"));
  EXPECT_THAT(text, Not(HasSubstr("edge_hub_connected{")));
}

}  // namespace
}  // namespace edge::controller
