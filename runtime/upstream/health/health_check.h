// Active checks: asks each endpoint whether it is well, from one thread of the process, and tells its BackendState.
//
//   HTTP  a GET; well when the status is one that is expected
//   TCP   well when a connection is made
//   GRPC  grpc.health.v1.Health/Check; well when it says SERVING
#pragma once

#include <memory>
#include <vector>

#include "program/format/format.h"
#include "program/read.h"
#include "runtime/upstream/health/backend_state.h"
#include "runtime/upstream/health/health_probe.h"

namespace edge::runtime {

/// Null: the backend's endpoints are not checked.
/// `tls`: how the endpoints are called where the record asks for TLS.
std::shared_ptr<const CheckSettings> check_settings(const program::BackendRecord& record,
                                                    const program::SectionView& section,
                                                    std::shared_ptr<const net::tls::ClientContext> tls);

class HealthChecks {
 public:
  HealthChecks();
  /// Ends what is under way.
  ~HealthChecks();
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  struct Target {
    std::shared_ptr<BackendState> backend;
    std::shared_ptr<EndpointState> endpoint;
    std::shared_ptr<const CheckSettings> settings;
  };
  /// All that is to be checked from now on; what was before, and in the same way, goes on in its rhythm. The thread is
  /// started with the first. From one thread at a time.
  void set(std::vector<Target> targets);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime
