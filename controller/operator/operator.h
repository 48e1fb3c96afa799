// The operator: follows EdgeClusters, and has each of them looked at when something of it has changed. A thread with a
// loop of its own; of several operators the holder of a Lease works.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "controller/kube/config.h"
#include "controller/operator/rollout/agent_pages.h"
#include "controller/operator/rollout/rollout.h"
#include "net/clock.h"

namespace edge::cluster_operator {

struct OperatorOptions {
  kube::Config config;
  /// Whose EdgeClusters are kept; empty: every namespace's.
  std::string name_space = "edge-system";
  bool elect = true;
  /// Whether the definitions of the kinds are upgraded.
  bool upgrade_definitions = true;
  std::string lease_namespace = "edge-system";
  std::string identity{};
  /// How pages of agents are requested; null: by their controllers.
  AskAgent ask{};
  /// After a call that failed; doubled with each failure.
  net::Duration first_delay = std::chrono::milliseconds(500);
  net::Duration longest_delay = std::chrono::minutes(1);
  /// Time of day, for statuses and for how long agents have been ready; null: the system's.
  std::function<WallTime()> wall{};
  Logger log{};
};

struct OperatorCounts {
  std::uint64_t reconciliations = 0;
  std::uint64_t failures = 0;
  std::uint64_t writes = 0;  ///< calls that change something, but for events and the Lease
  std::uint64_t clusters = 0;
  std::uint64_t waiting = 0;  ///< clusters that are to be looked at now
  bool synced = false;
  bool connected = false;
  bool leads = false;
};

class Operator {
 public:
  /// Fails where the configuration's keys cannot be used, not where the server is away.
  static Result<std::unique_ptr<Operator>> start(OperatorOptions options);
  /// Gives the Lease back, breaks off what is under way, joins.
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // From any thread.
  OperatorCounts counts() const;
  /// Whether its thread gets to what it is given within `patience`.
  bool answers(std::chrono::nanoseconds patience) const;

 private:
  class Impl;
  explicit Operator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::cluster_operator
