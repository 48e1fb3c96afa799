#include "agent/observe/backend_metrics.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/observe/backend_report.h"
#include "base/resource_id.h"

namespace edge::agent {
namespace {

using metrics::Exposition;
using metrics::Family;
using runtime::BackendStatus;
using runtime::Circuit;
using B = const BackendStatus&;

/// 0 closed, 1 half-open, 2 open: the higher the worse.
std::uint64_t circuit_number(Circuit::State state) {
  if (state == Circuit::State::kClosed) return 0;
  return state == Circuit::State::kOpen ? 2 : 1;
}

std::string name_of(B backend) { return resource_path(backend.name_space, backend.name); }

/// With many backends (kCompact), families leave out samples that are zero or gauges of the moment.
enum class Extent : std::uint8_t { kWhole, kCompact };

/// One family, and its value for a backend. In the complete form every backend is listed from the start, so that
/// queries and alerts find it before the first event; in the compact form only backends to which the family applies.
struct Row {
  Family family;
  bool (*asked)(B);
  std::uint64_t (*value)(B);
  /// Told of in compact form as well: always where it is asked for, or where it is not zero.
  enum class Compact : std::uint8_t { kTold, kUnlessZero, kLeftOut } compact;

  bool tells(B backend, Extent extent) const {
    if (extent == Extent::kWhole) return true;
    if (!asked(backend) || compact == Compact::kLeftOut) return false;
    return compact == Compact::kTold || value(backend) != 0;
  }
};

bool always(B /*backend*/) { return true; }
bool checked(B b) { return b.features.checks; }
bool ejected(B b) { return b.features.ejections; }
bool broken(B b) { return b.features.circuit; }
/// A route may have a policy where its backend has none.
bool named(B b) { return !b.names.empty(); }

std::uint64_t lookups(B b, std::uint64_t runtime::NameStatus::* which) {
  std::uint64_t sum = 0;
  for (const runtime::NameStatus& name : b.names) sum += name.*which;
  return sum;
}

std::uint64_t unresolved(B b) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(b.names, [](const runtime::NameStatus& name) { return !name.error.empty(); }));
}

bool retried(B b) { return b.features.retries || b.retries + b.retries_refused != 0; }

constexpr auto kTold = Row::Compact::kTold;
constexpr auto kUnlessZero = Row::Compact::kUnlessZero;
constexpr auto kLeftOut = Row::Compact::kLeftOut;
constexpr Row kRows[] = {
    {Family::kHealthChecks, checked, [](B b) { return b.checks; }, kTold},
    {Family::kHealthCheckSuccesses, checked, [](B b) { return b.checks - b.failed_checks; }, kTold},
    {Family::kHealthCheckFailures, checked, [](B b) { return b.failed_checks; }, kTold},
    {Family::kEjections, ejected, [](B b) { return b.ejections; }, kTold},
    {Family::kCircuitState, broken, [](B b) { return circuit_number(b.circuit); }, kTold},
    {Family::kCircuitOpened, broken, [](B b) { return b.circuit_opened; }, kUnlessZero},
    {Family::kBackendConnects, always, [](B b) { return b.connects; }, kUnlessZero},
    {Family::kBackendConnectFailures, always, [](B b) { return b.connect_failures; }, kUnlessZero},
    {Family::kBackendConnections, always, [](B b) { return std::uint64_t{b.connections}; }, kLeftOut},
    {Family::kBackendIdle, always, [](B b) { return std::uint64_t{b.idle}; }, kLeftOut},
    {Family::kBackendPending, always, [](B b) { return std::uint64_t{b.queued}; }, kLeftOut},
    {Family::kBackendOverflows, always, [](B b) { return b.overflows; }, kUnlessZero},
    {Family::kBackendRetries, retried, [](B b) { return b.retries; }, kUnlessZero},
    {Family::kBackendLookups, named, [](B b) { return lookups(b, &runtime::NameStatus::lookups); }, kTold},
    {Family::kBackendLookupFailures, named, [](B b) { return lookups(b, &runtime::NameStatus::failed_lookups); },
     kTold},
    {Family::kBackendUnresolved, named, unresolved, kTold},
    {Family::kBackendRetriesRefused, retried, [](B b) { return b.retries_refused; }, kUnlessZero},
};

/// By RequestResult.
constexpr std::string_view kOutcomes[runtime::kRequestResults] = {"unknown", "success", "server_error", "no_answer"};

std::size_t samples_of_clusters(B backend) {
  const std::size_t count = backend.clusters.size();
  return count == 0 ? 0 : count + (count - 1) * runtime::kRequestResults;
}

/// As many from the first on as find room.
std::size_t how_many_fit(std::span<const BackendStatus> backends, Extent extent, std::size_t room) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    used += backends[i].endpoints.size() + samples_of_clusters(backends[i]);
    for (const Row& row : kRows) used += row.tells(backends[i], extent) ? 1 : 0;
    if (used > room) return i;
  }
  return backends.size();
}

void write_endpoints(Exposition& out, std::span<const BackendStatus> backends) {
  out.begin(Family::kEndpointHealthy);
  for (B backend : backends) {
    for (const runtime::EndpointStatus& endpoint : backend.endpoints) {
      const std::string address = address_text(endpoint.address);
      out.sample(
          std::uint64_t{endpoint.healthy() ? 1U : 0U},
          endpoint.cluster.empty()
              ? metrics::labels({{"backend", name_of(backend)}, {"endpoint", address}})
              : metrics::labels({{"backend", name_of(backend)}, {"endpoint", address}, {"cluster", endpoint.cluster}}));
    }
  }
}

/// A backend has at most program::kMostClusterRefs other clusters.
void write_clusters(Exposition& out, std::span<const BackendStatus> backends) {
  out.begin(Family::kClusterTries);
  for (B backend : backends) {
    for (const runtime::ClusterStatus& cluster : backend.clusters) {
      if (cluster.cluster.empty()) continue;
      for (std::size_t i = 0; i < runtime::kRequestResults; ++i) {
        out.sample(
            cluster.tries[i],
            metrics::labels({{"backend", name_of(backend)}, {"cluster", cluster.cluster}, {"outcome", kOutcomes[i]}}));
      }
    }
  }
  out.begin(Family::kClusterShare);
  for (B backend : backends) {
    for (const runtime::ClusterStatus& cluster : backend.clusters) {
      out.sample(cluster.share, cluster.cluster.empty()
                                    ? metrics::labels({{"backend", name_of(backend)}})
                                    : metrics::labels({{"backend", name_of(backend)}, {"cluster", cluster.cluster}}));
    }
  }
}

}  // namespace

std::size_t write_backend_metrics(Exposition& out, std::span<const BackendStatus> all, std::size_t room) {
  const Extent extent = how_many_fit(all, Extent::kWhole, room) == all.size() ? Extent::kWhole : Extent::kCompact;
  const std::span<const BackendStatus> backends = all.first(how_many_fit(all, extent, room));
  write_endpoints(out, backends);
  write_clusters(out, backends);
  std::vector<std::string> labels;
  labels.reserve(backends.size());
  for (B backend : backends) labels.push_back(metrics::labels({{"backend", name_of(backend)}}));
  for (const Row& row : kRows) {
    out.begin(row.family);
    for (std::size_t i = 0; i < backends.size(); ++i) {
      if (row.tells(backends[i], extent)) out.sample(row.value(backends[i]), labels[i]);
    }
  }
  return all.size() - backends.size();
}

}  // namespace edge::agent
