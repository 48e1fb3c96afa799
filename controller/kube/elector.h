// Leader election by a Lease (coordination.k8s.io/v1) that the leader renews. Compatible with client-go, so that both
// can compete for the same Lease: clocks of others are never compared with the local one; a record counts as fresh
// while it was seen unchanged on the local monotonic clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "controller/kube/client.h"

namespace edge::kube {

struct ElectorOptions {
  std::string name_space = "edge-system";
  std::string name = "edge-controller";
  /// This process's identity; unique per process.
  std::string identity;
  /// Others wait this long before they take over.
  net::Duration lease_duration = std::chrono::seconds(15);
  /// A leader that could not renew for so long steps down; shorter than the lease.
  net::Duration renew_deadline = std::chrono::seconds(10);
  /// Between two attempts; others than the leader add a random part of up to a fifth.
  net::Duration retry_period = std::chrono::seconds(2);
  /// Releases the lease at the end, so that others need not wait.
  bool release = true;
  /// Seconds and microseconds since 1970, only for the Lease's timestamps; null: the system clock.
  std::function<std::chrono::system_clock::time_point()> wall{};
  /// In [0, 1); for tests. Null: random.
  std::function<double()> random{};
};

struct ElectorEvents {
  std::function<void()> elected;
  /// Leadership was lost: everything that only a leader may do must stop at once.
  std::function<void()> deposed;
  /// Another one leads, or none (empty).
  std::function<void(const std::string& identity)> leader;
};

/// For the client's loop.
class Elector {
 public:
  Elector(Client& client, ElectorOptions options, ElectorEvents events);
  /// Stops without releasing the lease.
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  void start();
  /// Steps down and releases the lease, if configured; then no event is reported any more. The lease is free when the
  /// task ends.
  net::Task<void> stop(net::Waiter& waiter);
  bool leads() const;
  /// Returns the number of finished attempts to acquire or renew the lease, successful or not.
  std::uint64_t tries() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace edge::kube
