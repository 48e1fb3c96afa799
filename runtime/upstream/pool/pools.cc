#include "runtime/upstream/pool/pools.h"

#include <string>

#include "program/format/records.h"

namespace edge::runtime {
namespace {

std::vector<ClusterWay> ways_of(std::uint64_t backend_id, const program::SectionView& section,
                                Pools::ClusterContexts cluster_tls) {
  std::vector<ClusterWay> ways;
  const auto all = section.array(section.header<program::BackendsHeader>().clusters);
  for (const program::ClusterRefRecord& record : program::clusters_of(section, backend_id)) {
    const auto position = static_cast<std::size_t>(&record - all.data());
    if (position >= cluster_tls.size()) continue;
    for (const auto& [cluster, tls] : cluster_tls[position]) {
      // `*` comes first; a reference of a cluster's own replaces what it says.
      std::erase_if(ways, [&](const ClusterWay& way) { return way.cluster == cluster; });
      ways.push_back({.cluster = cluster, .service = std::string(section.string(record.service)), .tls = tls});
    }
  }
  return ways;
}

}  // namespace

std::vector<std::shared_ptr<BackendPool>> Pools::apply(
    std::span<const program::BackendRecord> backends, const program::SectionView& section, Contexts tls,
    ClusterContexts cluster_tls, const std::shared_ptr<const net::tls::Authorities>& cluster_peers,
    net::Duration default_idle_timeout) {
  std::vector<std::shared_ptr<BackendPool>> result;
  std::unordered_map<std::uint64_t, std::shared_ptr<BackendPool>> next;
  result.reserve(backends.size());
  for (const program::BackendRecord& record : backends) {
    const auto known = pools_.find(record.id);
    std::shared_ptr<BackendPool> pool;
    if (known != pools_.end()) {
      pool = known->second;
    } else {
      // Threads begin at different endpoints, so that they do not march in step.
      pool = BackendPool::make({loop_, counts_, http2_, records_, backends_.route_marks()}, backends_.of(record.id),
                               start_);
    }
    pool->set_ways(ways_of(record.id, section, cluster_tls), cluster_peers);
    pool->configure(record, default_idle_timeout);
    pool->encrypt(tls[result.size()]);
    next.emplace(record.id, pool);
    result.push_back(std::move(pool));
  }
  pools_.swap(next);
  // Their backends are not served any more, and their clusters may be revoked all the same.
  for (const auto& [id, pool] : next) {
    if (!pools_.contains(id)) pool->set_ways({}, cluster_peers);
  }
  return result;
}

void Pools::refresh() {
  for (const auto& [id, pool] : pools_) pool->up_to_date();
}

void Pools::close_idle() {
  for (const auto& [id, pool] : pools_) pool->close_idle();
}

}  // namespace edge::runtime
