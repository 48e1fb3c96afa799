// Which agents are revoked, for all controllers of a cluster: a ConfigMap in the namespace of the Lease, of which each
// reads and into which each writes what it knows. Its times only get later, so that writers agree whatever their order;
// names whose certificates are over give way when it is full.
//
//   Authority (own revocations) --> RevokedAgents <--> ConfigMap `edge-revoked-agents`
//        ^----- what others have revoked ----+
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/authority/members.h"
#include "controller/kube/client.h"

namespace edge::controller {

struct RevokedAgentsOptions {
  std::string name_space;
  /// Returns what is revoked here, as Authority::revoked_agents.
  std::function<std::string()> own;
  /// Called with what the object has, as Authority::learn_revoked_agents takes it.
  std::function<void(const std::string&)> learned;
  Logger log{};
};

/// Runs on the client's loop.
class RevokedAgents {
 public:
  /// An object takes less than 1 MiB at the API. Where more agents are revoked whose certificates are not over, nothing
  /// is written, and `share` fails.
  static constexpr std::size_t kMostBytes = 900'000;

  RevokedAgents(kube::Client& client, RevokedAgentsOptions options);
  RevokedAgents(const RevokedAgents&) = delete;
  RevokedAgents& operator=(const RevokedAgents&) = delete;

  /// Whether a ConfigMap is the object.
  bool is_it(std::string_view name_space, std::string_view name) const;
  /// The object as the API has it, JSON; empty: it is gone.
  void observe(std::string_view text);
  /// The ConfigMaps that there are have been observed.
  void synced();
  /// Calls `done` when the object has all that is revoked here, or cannot be written; then it is tried again.
  /// `done` empty: nobody waits.
  void share(std::function<void(Status)> done);
  /// Cancels the call; calls `done` when none is left.
  void stop(std::function<void()> done);

 private:
  net::Detached pump();
  net::Task<kube::Failure> write(const std::string& text);
  void answer(const Status& status);
  void wake();
  void finish_when_idle();

  kube::Client& client_;
  const RevokedAgentsOptions options_;
  Revocations observed_;
  std::string version_;  ///< of the object; empty: there is none
  std::vector<std::function<void(Status)>> waiting_;
  std::string told_;  ///< the last failure that was logged
  net::Waiter waiter_;
  net::Waiter calling_;
  bool known_ = false;
  bool stopping_ = false;
  bool pumping_ = true;
  std::function<void()> done_;
};

}  // namespace edge::controller
