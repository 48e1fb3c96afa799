// The pools of one thread, one per backend, found by its stable id across programs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/upstream/backends.h"
#include "runtime/upstream/pool/backend_pool.h"

namespace edge::runtime {

class Pools {
 public:
  /// `backends` and `records` must outlive the pools.
  Pools(net::Loop& loop, Backends& backends, net::tls::RecordRoom& records, std::uint64_t start)
      : loop_(loop), backends_(backends), records_(records), start_(start), http2_({}) {}

  using Contexts = std::span<const std::shared_ptr<const net::tls::ClientContext>>;
  /// Of each ClusterRefRecord, by cluster: one, or for `*` one for each that is known.
  using ClusterContexts =
      std::span<const std::map<std::string, std::shared_ptr<const net::tls::ClientContext>, std::less<>>>;
  /// Makes the pools of a program's backends, in the order of its records, each with its TLS context; `cluster_tls`:
  /// one per ClusterRefRecord of `section`; `cluster_peers`: which other clusters are believed, null: none is called.
  /// Pools of backends that the program does not name are dropped: they live on in programs that requests still pin.
  std::vector<std::shared_ptr<BackendPool>> apply(std::span<const program::BackendRecord> backends,
                                                  const program::SectionView& section, Contexts tls,
                                                  ClusterContexts cluster_tls,
                                                  const std::shared_ptr<const net::tls::Authorities>& cluster_peers,
                                                  net::Duration default_idle_timeout);
  /// Called after endpoints were added or removed: closes connections to removed ones now, not at the next request.
  void refresh();
  void close_idle();
  const UpstreamCounts& counts() const { return counts_; }

 private:
  net::Loop& loop_;
  Backends& backends_;
  net::tls::RecordRoom& records_;
  std::uint64_t start_;
  UpstreamCounts counts_;
  /// The engine of all shared connections, which are destroyed before it.
  net::http2::ClientEngine http2_;
  std::unordered_map<std::uint64_t, std::shared_ptr<BackendPool>> pools_;
};

}  // namespace edge::runtime
