// The controller's metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "controller/cluster.h"
#include "controller/reconcile/program_builder.h"
#include "controller/remote/remote_clusters.h"
#include "controller/remote/spoke.h"
#include "controller/status/agents_view.h"
#include "controller/traces/trace_counts.h"
#include "metrics/exposition.h"
#include "metrics/histogram.h"

namespace edge::controller {

/// Thread-safe.
class ControllerMetrics {
 public:
  using Clock = std::chrono::steady_clock;

  /// Called after a result was published. `took`: from the batch to its program.
  void reconciled(const ReconcileResult& result, std::chrono::nanoseconds took, Clock::time_point now);
  /// Sets the number of invalid resources that are served in their last valid version.
  void held_back(std::size_t resources);
  void looked(const AgentsView& view, Clock::time_point now);
  void wrote_status(std::chrono::nanoseconds took) { status_time_.observe(took); }

  struct Scene {
    ClusterCounts cluster;
    std::size_t changes_waiting = 0;
    std::span<const AgentState> agents;
  };
  void write(metrics::Exposition& out, const Scene& scene) const;

 private:
  struct Stage {
    const char* name;
    std::chrono::nanoseconds spent{};
  };
  void spend(std::size_t stage, std::chrono::nanoseconds time) { stages_[stage].spent += time; }
  void write_compiles(metrics::Exposition& out) const;
  void write_agents(metrics::Exposition& out, const Scene& scene) const;

  mutable std::mutex mutex_;
  // Under the mutex:
  std::uint64_t compiles_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t programs_ = 0;
  std::uint64_t program_bytes_ = 0;
  std::uint64_t held_back_ = 0;
  Stage stages_[8] = {{"decode"}, {"link"}, {"lower"}, {"emit"}, {"native"}, {"regex"}, {"prove"}, {"assemble"}};
  /// Programs not yet run by all agents: their numbers, and when they were published.
  std::deque<std::pair<std::uint64_t, Clock::time_point>> on_their_way_;
  metrics::DurationHistogram compile_time_;
  metrics::DurationHistogram distribution_time_;
  metrics::DurationHistogram queue_time_;
  metrics::DurationHistogram status_time_;
};

/// Writes the metrics of the trace store.
/// Of clusters that connect to this one.
void write_remotes(metrics::Exposition& out, const remote::RemoteViews& views);
/// Of the connection to the hub that flags ask for; null: there is none.
void write_spoke(metrics::Exposition& out, const remote::SpokeView* view, WallTime now);
void write_trace_counts(metrics::Exposition& out, const traces::TraceCounts& counts);

}  // namespace edge::controller
