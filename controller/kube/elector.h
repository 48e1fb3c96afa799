// One leader among several, by a Lease (coordination.k8s.io/v1) that the leader renews. As client-go does it, so that
// both can stand for the same Lease: others' clocks are never compared with ours, a record counts as fresh for as long
// as it was seen unchanged on our own monotonic clock.
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
  /// Who we are; of each process another.
  std::string identity;
  /// Others wait as long before they take over.
  net::Duration lease_duration = std::chrono::seconds(15);
  /// A leader that could not renew for so long steps down; shorter than the lease.
  net::Duration renew_deadline = std::chrono::seconds(10);
  /// Between two tries, and a random part of up to a fifth more for who waits.
  net::Duration retry_period = std::chrono::seconds(2);
  /// Gives the lease back at the end, so that another need not wait.
  bool release = true;
  /// Seconds and microseconds since 1970, for the Lease's times alone; null: the system's.
  std::function<std::chrono::system_clock::time_point()> wall{};
  /// In [0, 1); for tests. Null: random.
  std::function<double()> random{};
};

struct ElectorEvents {
  std::function<void()> elected;
  /// No longer: everything that only a leader does must end at once.
  std::function<void()> deposed;
  /// Another one leads, or nobody (empty).
  std::function<void(const std::string& identity)> leader;
};

/// Every function on the client's loop.
class Elector {
 public:
  Elector(Client& client, ElectorOptions options, ElectorEvents events);
  /// Stops, without giving back.
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  void start();
  /// Steps down and gives the lease back, where that is wanted; then nothing is told any more. The lease is free when
  /// the task ends.
  net::Task<void> stop(net::Waiter& waiter);
  bool leads() const;
  /// Tries to take or renew it that have ended, well or not.
  std::uint64_t tries() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace edge::kube
