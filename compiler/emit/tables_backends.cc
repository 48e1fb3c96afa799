#include <algorithm>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "compiler/emit/settings.h"
#include "compiler/emit/tables.h"
#include "program/section_builder.h"

namespace edge::compiler::emit {
namespace {

/// In an order of their own: that of a configuration may be the one in which edits came, with places that are free.
std::vector<const LinkedBackend*> by_name(const std::vector<LinkedBackend>& backends) {
  std::vector<const LinkedBackend*> sorted;
  for (const LinkedBackend& backend : backends) {
    if (!backend.identity.name.empty()) sorted.push_back(&backend);
  }
  std::sort(sorted.begin(), sorted.end(), [](const LinkedBackend* a, const LinkedBackend* b) {
    return std::tie(a->identity.name_space, a->identity.name) < std::tie(b->identity.name_space, b->identity.name);
  });
  return sorted;
}

void add_clusters(program::SectionBuilder& builder, const LinkedBackend& backend,
                  std::vector<program::ClusterRefRecord>& clusters) {
  for (const LinkedCluster& cluster : backend.failover.clusters) {
    program::ClusterRefRecord& record = clusters.emplace_back();
    record.backend_id = stable_id("ProxyBackend", backend.identity.name_space, backend.identity.name);
    record.cluster = builder.string(cluster.cluster);
    record.service = builder.string(cluster.service);
    record.region = builder.string(cluster.region);
    record.priority = cluster.priority;
    record.weight = cluster.weight;
    record.most_in_flight = backend.failover.most_in_flight;
    record.healthy_percent = backend.failover.healthy_percent;
    record.tls = store_one(builder, backend_tls_record(builder, cluster.tls));
  }
}

}  // namespace

std::vector<std::byte> emit_backends(const LinkedConfig& config) {
  program::SectionBuilder builder(sizeof(program::BackendsHeader), 160 * config.backends.size());
  std::vector<program::BackendRecord> records;
  records.reserve(config.backends.size());
  for (const LinkedBackend* linked : by_name(config.backends)) {
    const LinkedBackend& backend = *linked;
    const auto& identity = backend.identity;
    program::BackendRecord& record = records.emplace_back();
    record.id = stable_id("ProxyBackend", identity.name_space, identity.name);
    record.name_space = builder.string(identity.name_space);
    record.name = builder.string(identity.name);
    record.balance = backend.balance;
    record.max_connections = backend.max_connections;
    record.max_pending_requests = backend.max_pending_requests;
    record.max_requests_per_connection = backend.max_requests_per_connection;
    record.max_idle_connections = backend.max_idle_connections;
    record.retry_on = backend.retry_on;
    record.max_retries = backend.max_retries;
    record.max_concurrent_retries = backend.max_concurrent_retries;
    record.retry_budget_percent = backend.retry_budget_percent;
    record.min_concurrent_retries = backend.min_concurrent_retries;
    record.max_idle_total = backend.max_idle_total.value_or(program::kNone);
    record.connect_timeout_ns = nanoseconds(backend.connect_timeout);
    record.request_timeout_ns = nanoseconds(backend.request_timeout);
    record.idle_timeout_ns = nanoseconds(backend.idle_timeout);
    record.per_try_timeout_ns = nanoseconds(backend.per_try_timeout);
    record.backoff_base_ns = nanoseconds(backend.backoff_base);
    record.backoff_max_ns = nanoseconds(backend.backoff_max);
    record.slow_start_ns = nanoseconds(backend.slow_start);
    record.protocol = backend.protocol;
    record.proxy_protocol = backend.proxy_protocol;
    record.trailers = store_texts(builder, backend.trailers);
    record.flags = backend.takes_all_trailers ? program::kTakesTrailers : 0;
    store_settings(builder, backend, record);
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::vector<program::ClusterRefRecord> clusters;
  for (const LinkedBackend* backend : by_name(config.backends)) add_clusters(builder, *backend, clusters);
  // Of one backend they are in order already.
  std::ranges::stable_sort(clusters, {}, &program::ClusterRefRecord::backend_id);

  program::BackendsHeader header{};
  header.backends = builder.array(records);
  if (!clusters.empty()) header.clusters = builder.array(clusters);
  return std::move(builder).finish(header);
}

}  // namespace edge::compiler::emit
