// Active checks: asks each endpoint whether it is well, from one thread of the process, and tells its BackendState.
//
//   HTTP  a GET; well when the status is one that is expected
//   TCP   well when a connection is made
//   GRPC  grpc.health.v1.Health/Check; well when it says SERVING
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/clock.h"
#include "program/format.h"
#include "program/read.h"
#include "runtime/upstream/backend_state.h"

namespace edge::runtime {

/// How endpoints of a backend are asked. Owns its texts: it outlives the program that it stood in.
struct CheckSettings {
  program::ProbeProtocol protocol = program::ProbeProtocol::kHttp;
  bool http2 = false;  ///< what is spoken with the endpoints
  net::Duration interval{};
  net::Duration timeout{};
  net::Duration initial_delay{};
  std::string path;
  std::string host;  ///< empty: the endpoint's address
  std::string grpc_service;
  std::vector<std::uint32_t> expected;  ///< ascending
  std::vector<std::pair<std::string, std::string>> headers;
  friend bool operator==(const CheckSettings&, const CheckSettings&) = default;
};

/// Null: the backend's endpoints are not checked.
std::shared_ptr<const CheckSettings> check_settings(const program::BackendRecord& record,
                                                    const program::SectionView& section);

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
