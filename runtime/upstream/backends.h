// The backends of the process, by their stable ids. What is known of one is kept as long as a program names it, or a
// request pins one that did.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "net/clock.h"
#include "program/read.h"
#include "program/values/endpoints.h"
#include "runtime/upstream/health/backend_state.h"
#include "runtime/upstream/health/health_check.h"

namespace edge::runtime {

/// Any thread may call.
class Backends {
 public:
  /// That of the threads that serve, where it is not the steady clock. Before anything else.
  void measure_by(const net::Clock& clock) { clock_ = &clock; }
  /// The backends of the program that is served from now on, and the section that they stand in; `tls`, one a backend:
  /// how its endpoints are called.
  void configure(std::span<const program::BackendRecord> backends, const program::SectionView& section,
                 std::span<const std::shared_ptr<const net::tls::ClientContext>> tls);
  /// By backend id: endpoints in the place of those that a set has.
  using Resolved = std::map<std::uint64_t, std::vector<program::Endpoint>>;
  /// `resolved`: of backends with names, all that there are.
  void set_endpoints(std::shared_ptr<const program::EndpointSet> endpoints, Resolved resolved);
  /// Of these backends alone.
  void change_resolved(Resolved changed);

  /// Made when it is not there.
  std::shared_ptr<BackendState> of(std::uint64_t id);
  /// Of the program that is served, in the order of their ids.
  std::vector<BackendStatus> status() const;

 private:
  struct Entry {
    std::shared_ptr<BackendState> state;
    /// Null: no active checks.
    std::shared_ptr<const CheckSettings> check;
    bool served = false;
  };
  net::Time now() const { return clock_ != nullptr ? clock_->now() : net::Clock().now(); }
  std::span<const program::Endpoint> endpoints_of(std::uint64_t id) const;
  void set_checks();

  const net::Clock* clock_ = nullptr;
  mutable std::mutex mutex_;
  std::shared_ptr<const program::EndpointSet> endpoints_;
  Resolved resolved_;
  std::map<std::uint64_t, Entry> entries_;
  HealthChecks checks_;
};

}  // namespace edge::runtime
