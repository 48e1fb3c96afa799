#include "runtime/upstream/pool/pools.h"

namespace edge::runtime {

std::vector<std::shared_ptr<BackendPool>> Pools::apply(
    std::span<const program::BackendRecord> backends,
    std::span<const std::shared_ptr<const net::tls::ClientContext>> tls, net::Duration default_idle_timeout) {
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
    pool->configure(record, default_idle_timeout);
    pool->encrypt(tls[result.size()]);
    next.emplace(record.id, pool);
    result.push_back(std::move(pool));
  }
  pools_.swap(next);
  return result;
}

void Pools::refresh() {
  for (const auto& [id, pool] : pools_) pool->up_to_date();
}

void Pools::close_idle() {
  for (const auto& [id, pool] : pools_) pool->close_idle();
}

}  // namespace edge::runtime
