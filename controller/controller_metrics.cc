#include "controller/controller_metrics.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace edge::controller {
namespace {

using metrics::Exposition;
using metrics::Family;
using metrics::labels;

/// Programs whose way is followed at a time. What is over it is not measured: later ones will be.
constexpr std::size_t kMaxFollowed = 64;

/// The controller that leads orders; others know nothing of it.
void write_certificates(Exposition& out, const ClusterCounts& cluster) {
  // Each controller decides of what its agents are asked for.
  if (const acme::NameCounts& names = cluster.certificates.names; names.any) {
    out.begin(Family::kOnDemandNames);
    out.sample(names.names);
    out.begin(Family::kOnDemandDecisions);
    for (std::size_t i = 0; i < names.decided.size(); ++i) {
      out.sample(names.decided[i], labels({{"result", to_string(static_cast<acme::NameDecision>(i))}}));
    }
  }
  if (!cluster.leads) return;
  const acme::CertificateCounts& counts = cluster.certificates;
  const auto by = [&out](const char* label, std::string_view value, std::uint64_t count) {
    out.sample(count, labels({{label, value}}));
  };
  out.begin(Family::kOrderedCertificates);
  by("state", "valid", counts.valid);
  by("state", "renewal-failed", counts.valid_waiting);
  by("state", "missing", counts.missing);
  by("state", "failed", counts.missing_waiting);
  out.begin(Family::kCertificateOrders);
  by("result", "issued", counts.issued);
  by("result", "renewed", counts.renewed);
  by("result", "failed", std::accumulate(counts.failed.begin(), counts.failed.end(), std::uint64_t{0}));
  out.begin(Family::kCertificateFailures);
  for (std::size_t i = 0; i < counts.failed.size(); ++i) {
    by("kind", to_string(static_cast<acme::FailureKind>(i)), counts.failed[i]);
  }
  out.begin(Family::kCertificatesRevoked);
  out.sample(counts.revoked);
  const auto times = [&](Family family, std::int64_t acme::CertificateTimes::* time) {
    out.begin(family);
    for (const auto& [name, of] : counts.times) {
      if (of.until == 0) continue;
      out.sample(static_cast<std::uint64_t>(std::max<std::int64_t>(of.*time, 0)),
                 labels({{"namespace", name.first}, {"host", name.second}}));
    }
  };
  times(Family::kOrderedExpiry, &acme::CertificateTimes::until);
  times(Family::kOrderedRenewal, &acme::CertificateTimes::renewal);
}

}  // namespace

void ControllerMetrics::reconciled(const ReconcileResult& result, std::chrono::nanoseconds took,
                                   Clock::time_point now) {
  queue_time_.observe(result.waited);
  if (result.runs == 0) return;  // values alone
  compile_time_.observe(took);
  const std::lock_guard lock(mutex_);
  ++compiles_;
  failures_ += result.program == nullptr ? 1 : 0;
  const compiler::CompileStats& made = result.compile;
  const std::chrono::nanoseconds spent[] = {result.stats.decode, result.stats.link, made.lower, made.emit,
                                            made.native,         made.regex,        made.prove, made.assemble};
  for (std::size_t stage = 0; stage < std::size(stages_); ++stage) spend(stage, spent[stage]);
  if (result.program == nullptr) return;
  programs_ = result.number;
  program_bytes_ = result.program->size();
  if (result.program_changed && on_their_way_.size() < kMaxFollowed) on_their_way_.emplace_back(result.number, now);
}

void ControllerMetrics::held_back(std::size_t resources) {
  const std::lock_guard lock(mutex_);
  held_back_ = resources;
}

void ControllerMetrics::looked(const AgentsView& view, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  // What a rollback keeps from being run is not on its way.
  if (!view.pinned.empty()) on_their_way_.clear();
  while (!on_their_way_.empty() && view.all_run(on_their_way_.front().first)) {
    distribution_time_.observe(now - on_their_way_.front().second);
    on_their_way_.pop_front();
  }
}

void ControllerMetrics::write_compiles(Exposition& out) const {
  out.one(Family::kCompiles, compiles_);
  out.one(Family::kCompileFailures, failures_);
  out.begin(Family::kCompileDuration);
  compile_time_.write(out);
  out.begin(Family::kCompileStage);
  for (const Stage& stage : stages_) {
    out.sample(std::chrono::duration<double>(stage.spent).count(), labels({{"stage", stage.name}}));
  }
  out.one(Family::kPrograms, programs_);
  out.one(Family::kProgramBytes, program_bytes_);
  out.one(Family::kHeldBack, held_back_);
}

void ControllerMetrics::write_agents(Exposition& out, const Scene& scene) const {
  std::uint64_t connected = 0;
  out.begin(Family::kAgentProgram);
  for (const AgentState& agent : scene.agents) {
    if (!agent.connected) continue;
    ++connected;
    out.sample(std::uint64_t{1}, labels({{"agent", agent.name}, {"hash", agent.program}}));
  }
  out.begin(Family::kAgentCurrent);
  for (const AgentState& agent : scene.agents) {
    if (!agent.connected) continue;
    const bool current = agent.program == agent.published && !agent.program.empty();
    out.sample(std::uint64_t{current ? 1U : 0U}, labels({{"agent", agent.name}}));
  }
  out.one(Family::kAgentsConnected, connected);
  out.begin(Family::kDistributionDuration);
  distribution_time_.write(out);
}

void ControllerMetrics::write(Exposition& out, const Scene& scene) const {
  const ClusterCounts& cluster = scene.cluster;
  out.one(Family::kObjects, cluster.objects);
  out.begin(Family::kResources);
  for (const auto& [kind, count] : cluster.by_kind) out.sample(count, labels({{"kind", kind}}));
  out.one(Family::kEvents, cluster.events);
  out.one(Family::kApiConnected, std::uint64_t{cluster.connected ? 1U : 0U});
  out.one(Family::kLeader, std::uint64_t{cluster.leads ? 1U : 0U});
  out.one(Family::kStatusWrites, cluster.statuses.written);
  out.one(Family::kStatusConflicts, cluster.statuses.conflicts);
  out.one(Family::kStatusFailures, cluster.statuses.failed);
  out.begin(Family::kStatusDuration);
  status_time_.write(out);
  out.begin(Family::kQueueDepth);
  out.sample(std::uint64_t{scene.changes_waiting}, labels({{"queue", "changes"}}));
  out.sample(cluster.statuses.waiting, labels({{"queue", "statuses"}}));
  out.begin(Family::kQueueDuration);
  queue_time_.write(out);
  write_certificates(out, cluster);
  const std::lock_guard lock(mutex_);
  write_compiles(out);
  write_agents(out, scene);
}

void write_remotes(Exposition& out, const remote::RemoteViews& views) {
  const auto each = [&](Family family, const auto& value) {
    out.begin(family);
    for (const auto& [name, view] : views) out.sample(value(view), labels({{"cluster", name}}));
  };
  const auto connected = [](const remote::RemoteView& view) {
    return view.phase.phase == remote::Phase::kConnected || view.phase.phase == remote::Phase::kDegraded;
  };
  each(Family::kRemoteConnected, [&](const auto& view) { return std::uint64_t{connected(view) ? 1U : 0U}; });
  out.begin(Family::kRemotePhase);
  for (const auto& [name, view] : views) {
    out.sample(std::uint64_t{1}, labels({{"cluster", name}, {"phase", to_string(view.phase.phase)}}));
  }
  const auto seconds = [](net::Duration time) { return std::chrono::duration<double>(time).count(); };
  each(Family::kRemoteSilence, [&](const auto& view) { return seconds(view.silence); });
  each(Family::kRemoteRoundTrip, [&](const auto& view) { return seconds(view.round_trip); });
  each(Family::kRemoteLag, [&](const auto& view) { return view.report ? seconds(view.report->lag) : 0.0; });
  each(Family::kRemoteConnections, [](const auto& view) { return view.connections; });
  each(Family::kRemoteRefused, [](const auto& view) { return view.refused; });
}

void write_spoke(Exposition& out, const remote::SpokeView* view, WallTime now) {
  const auto one = [&](Family family, const auto& value) {
    out.begin(family);
    if (view != nullptr) out.sample(value(), labels({{"hub", view->hub}}));
  };
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  one(Family::kHubConnected, [&] {
    const remote::Phase phase = view->phase.phase;
    return std::uint64_t{phase == remote::Phase::kConnected || phase == remote::Phase::kDegraded ? 1U : 0U};
  });
  one(Family::kHubRoundTrip, [&] { return seconds(view->round_trip); });
  one(Family::kHubConnections, [&] { return view->connections; });
  one(Family::kHubCertificate, [&] { return std::max(0.0, seconds(view->certificate_until - now)); });
}

void write_trace_counts(Exposition& out, const traces::TraceCounts& counts) {
  out.one(Family::kTraceSpansTaken, counts.spans_taken);
  out.one(Family::kTraceSpansRefused, counts.spans_refused);
  out.one(Family::kTraceSpansDropped, counts.spans_dropped);
  out.one(Family::kTracesStored, counts.traces);
  out.one(Family::kTracesBytes, counts.bytes);
}

}  // namespace edge::controller
