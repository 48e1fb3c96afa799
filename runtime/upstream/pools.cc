#include "runtime/upstream/pools.h"

#include <algorithm>

namespace edge::runtime {

std::vector<std::shared_ptr<BackendPool>> Pools::apply(std::span<const program::BackendRecord> backends,
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
      pool = std::make_shared<BackendPool>(loop_, counts_, loads_, threads_, start_);
    }
    pool->configure(record, default_idle_timeout);
    if (known == pools_.end()) give_endpoints(record.id, *pool);
    next.emplace(record.id, pool);
    result.push_back(std::move(pool));
  }
  pools_.swap(next);
  return result;
}

void Pools::set_endpoints(std::shared_ptr<const program::EndpointSet> endpoints) {
  endpoints_ = std::move(endpoints);
  for (const auto& [id, pool] : pools_) give_endpoints(id, *pool);
}

void Pools::close_idle() {
  for (const auto& [id, pool] : pools_) pool->close_idle();
}

void Pools::give_endpoints(std::uint64_t backend_id, BackendPool& pool) const {
  if (endpoints_ == nullptr) return;
  const auto& backends = endpoints_->backends;
  const auto found =
      std::lower_bound(backends.begin(), backends.end(), backend_id,
                       [](const program::BackendEndpoints& b, std::uint64_t id) { return b.backend_id < id; });
  if (found != backends.end() && found->backend_id == backend_id) {
    pool.set_endpoints(found->endpoints);
  } else {
    pool.set_endpoints({});
  }
}

}  // namespace edge::runtime
