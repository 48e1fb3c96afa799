// What those who order certificates ask of whoever serves agents: that they answer challenges, and whether they can.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "program/values/secrets.h"

namespace edge::controller::acme {

inline constexpr std::uint64_t kNotGiven = std::numeric_limits<std::uint64_t>::max();

/// A listener that clients of some agent do not reach, so that a CA may meet another process at its port, or none.
struct UnreachedListener {
  std::uint64_t gateway_id = 0;  ///< as in the program
  std::string listener;
  std::string reason;  ///< one line, with the agent
  friend bool operator==(const UnreachedListener&, const UnreachedListener&) = default;
};

/// What the agents that are connected here can answer.
struct AgentsReach {
  bool any = false;  ///< an agent runs a program
  std::vector<UnreachedListener> unreached{};
};

/// Called on the client's loop.
struct CertificateEvents {
  /// Takes all answers to challenges that agents need now, as values of program::kChallengeName; null: none. Returns
  /// the version of agents' values with them; kNotGiven: there are no values yet.
  std::function<std::uint64_t(std::shared_ptr<const program::NamedSecret>)> challenges;
  /// Whether all connected agents have reported that they run with values of this version or a later one.
  std::function<bool(std::uint64_t version)> acknowledged;
  std::function<AgentsReach()> reach;
};

}  // namespace edge::controller::acme
