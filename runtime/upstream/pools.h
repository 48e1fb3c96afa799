// The backends of one thread: a pool each, found by the stable id, whatever program is in force.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/upstream/backend_pool.h"

namespace edge::runtime {

class Pools {
 public:
  /// `loads` must outlive the pools.
  Pools(net::Loop& loop, EndpointLoads& loads, unsigned threads, std::uint64_t start)
      : loop_(loop), loads_(loads), threads_(threads), start_(start) {}

  /// Makes the pools of a program's backends, in the order of its records. Pools that the program does not name are
  /// forgotten: they live on in the programs that requests still pin.
  std::vector<std::shared_ptr<BackendPool>> apply(std::span<const program::BackendRecord> backends,
                                                  net::Duration default_idle_timeout);
  void set_endpoints(std::shared_ptr<const program::EndpointSet> endpoints);
  void close_idle();
  const UpstreamCounts& counts() const { return counts_; }

 private:
  void give_endpoints(std::uint64_t backend_id, BackendPool& pool) const;

  net::Loop& loop_;
  EndpointLoads& loads_;
  unsigned threads_;
  std::uint64_t start_;
  UpstreamCounts counts_;
  std::shared_ptr<const program::EndpointSet> endpoints_;
  std::unordered_map<std::uint64_t, std::shared_ptr<BackendPool>> pools_;
};

}  // namespace edge::runtime
