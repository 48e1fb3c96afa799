// A name that clients ask an agent for, as it reports it, and how many one peer may tell.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "program/values/value_set.h"

namespace edge::controller {

/// A name that clients ask for at a listener whose certificates are ordered on demand.
struct WantedName {
  std::string name_space;
  std::string secret;  ///< of the listener's certificates
  std::string host;    ///< canonical
  bool served = false;
  friend bool operator==(const WantedName&, const WantedName&) = default;
};

/// Whether these are the values of agents with that listener, and its certificates are ordered on demand.
bool is_on_demand(const program::ValueSet& values, const WantedName& name);

/// Of one message.
inline constexpr std::size_t kMostWantedNames = 256;

/// Bounds what one agent, or one relay, tells: more than one does that keeps its own bounds
/// (runtime/tls/wanted_names.h), so that one that does not takes little of what others have. For one thread.
class WantedRate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Of an agent.
  static constexpr double kOfAgent = 20;
  /// Of a site, whose agents may be many.
  static constexpr double kOfRelay = 100;

  /// `a_second`: in the long run; a minute's worth at once.
  explicit WantedRate(double a_second) : a_second_(a_second), left_(kAtOnce * a_second) {}

  /// Leaves out what is too much: who wants a name has it told again.
  void cut(std::vector<WantedName>& names, Time now);

 private:
  static constexpr double kAtOnce = 60;
  const double a_second_;
  double left_;
  Time filled_{};
};

}  // namespace edge::controller
