// Active health checks: probes each endpoint from one thread of the process, and reports to its BackendState.
//
//   HTTP  a GET; healthy when the status is one of the expected
//   TCP   healthy when a connection is made
//   GRPC  grpc.health.v1.Health/Check; healthy when the answer is SERVING
#pragma once

#include <memory>
#include <vector>

#include "program/format/format.h"
#include "program/read.h"
#include "runtime/upstream/health/backend_state.h"
#include "runtime/upstream/health/health_probe.h"

namespace edge::runtime {

/// Returns the check settings of a backend; null: its endpoints are not checked. `tls`: the context for endpoints where
/// the record asks for TLS.
std::shared_ptr<const CheckSettings> check_settings(const program::BackendRecord& record,
                                                    const program::SectionView& section,
                                                    std::shared_ptr<const net::tls::ClientContext> tls);

class HealthChecks {
 public:
  HealthChecks();
  /// Cancels the checks in progress.
  ~HealthChecks();
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  struct Target {
    std::shared_ptr<BackendState> backend;
    std::shared_ptr<EndpointState> endpoint;
    std::shared_ptr<const CheckSettings> settings;
  };
  /// Replaces the targets; those that were there with the same settings keep their schedule. The thread starts with the
  /// first target. One thread at a time.
  void set(std::vector<Target> targets);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime
