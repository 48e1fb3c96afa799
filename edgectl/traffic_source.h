// The source of traffic statistics: the agents' own last hour, or a Prometheus server (`--metrics-url`).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/agents/agent_traffic.h"
#include "edgectl/agents/prometheus.h"
#include "edgectl/observe/metric_table.h"

namespace edge::edgectl {

/// --metrics-url, and the flags of agent pages.
std::vector<cli::Flag> traffic_source_flags();

/// One of the two sources, with the same tables.
class TrafficSource {
 public:
  /// Opens as `--metrics-url` says; nullptr: stderr says why, and `exit` is the exit code. `most`: timeout of one query
  /// to Prometheus.
  static std::unique_ptr<TrafficSource> open(std::string_view command, const cli::Arguments& arguments, int& exit,
                                             std::chrono::milliseconds most = std::chrono::seconds(20));

  Result<std::vector<MetricRow>> rows(const MetricTable& table, const std::string& window);
  /// Returns a line for each agent that did not answer the last request.
  const std::vector<std::string>& faults() const { return faults_; }
  /// Returns `http://prometheus:9090`, or `agents`.
  std::string name() const { return server_ ? server_->url() : "agents"; }

  /// Null: agents are the source.
  const Prometheus* server() const { return server_.get(); }
  /// Null: a Prometheus server is the source.
  AgentTraffic* agents() { return agents_.get(); }

 private:
  std::unique_ptr<Prometheus> server_;
  std::unique_ptr<AgentPages> pages_;
  std::unique_ptr<AgentTraffic> agents_;
  std::vector<std::string> faults_;
};

}  // namespace edge::edgectl
