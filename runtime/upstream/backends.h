// The backends of the process, by their stable ids. The state of a backend is kept while a program names it, or a
// request pins a program that did.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "net/clock.h"
#include "program/read.h"
#include "program/values/endpoints.h"
#include "runtime/upstream/health/backend_state.h"
#include "runtime/upstream/health/health_check.h"
#include "runtime/upstream/route_marks.h"

namespace edge::runtime {

/// Threads: any.
class Backends {
 public:
  /// Sets the clock of the serving threads, where it is not the steady clock. To be called first.
  void measure_by(const net::Clock& clock) { clock_ = &clock; }
  using Contexts = std::span<const std::shared_ptr<const net::tls::ClientContext>>;
  /// Of each ClusterRefRecord, by cluster: one, or for `*` one for each that is known.
  using ClusterContexts =
      std::span<const std::map<std::string, std::shared_ptr<const net::tls::ClientContext>, std::less<>>>;
  /// Sets the backends of the program to serve, and their section; `tls`, one per backend: the context for its
  /// endpoints; `cluster_tls`: one per ClusterRefRecord.
  void configure(std::span<const program::BackendRecord> backends, const program::SectionView& section, Contexts tls,
                 ClusterContexts cluster_tls = {});
  /// Sets the zone of this process, whose endpoints are preferred; empty: none are. \returns whether it was another.
  bool set_zone(std::string zone);
  std::string zone() const;
  /// Likewise the region, whose clusters are preferred.
  bool set_region(std::string region);
  /// By backend id: endpoints that replace those of the endpoint set.
  using Resolved = std::map<std::uint64_t, std::vector<program::Endpoint>>;
  /// `resolved`: the endpoints of all backends with names.
  void set_endpoints(std::shared_ptr<const program::EndpointSet> endpoints, Resolved resolved);
  /// Replaces the resolved endpoints of these backends only.
  void change_resolved(Resolved changed);

  /// The marks of connections to backends, of all threads.
  RouteMarks& route_marks() { return route_marks_; }

  /// Returns the state of a backend; made when it is missing.
  std::shared_ptr<BackendState> of(std::uint64_t id);
  /// Returns the status of the served program's backends, ordered by id.
  std::vector<BackendStatus> status() const;

 private:
  struct Entry {
    std::shared_ptr<BackendState> state;
    /// Null: no active health checks.
    std::shared_ptr<const CheckSettings> check;
    /// Of the gateways of other clusters, by cluster.
    std::map<std::string, std::shared_ptr<const CheckSettings>> cluster_checks{};
    bool served = false;
  };
  net::Time now() const { return clock_ != nullptr ? clock_->now() : net::Clock().now(); }
  std::span<const program::Endpoint> endpoints_of(std::uint64_t id) const;
  void update_endpoints(std::uint64_t id, BackendState& state) const;
  void set_checks();

  const net::Clock* clock_ = nullptr;
  RouteMarks route_marks_;
  mutable std::mutex mutex_;
  std::string zone_;
  std::string region_;
  std::shared_ptr<const program::EndpointSet> endpoints_;
  Resolved resolved_;
  std::map<std::uint64_t, Entry> entries_;
  HealthChecks checks_;
};

}  // namespace edge::runtime
