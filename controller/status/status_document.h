// Builds the status of a resource for the cluster: the compiler's result, agents' reports, and the transition times of
// the current status. A pure function; status_writer.h writes the result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/status/agents_view.h"
#include "controller/status/desired_status.h"

namespace edge::controller {

/// A condition that has changed.
struct ConditionFlip {
  std::string type, status, reason, message;
  bool first = false;   ///< there was no condition of this type before
  std::string where{};  ///< `listener http`, `Gateway shop/web`; empty: the resource as a whole
};

struct StatusChange {
  /// The fields of `status` that differ, as JSON for a merge patch.
  std::string fields;
  std::vector<ConditionFlip> flips;  ///< of the resource, its listeners, its parents or ancestors
  /// The change only says that agents do not run the program yet: the write may be delayed.
  bool only_pending = false;
  /// The change only concerns responses to health checks, not the health itself.
  bool only_checks = false;
  /// Addresses of a pool are given away, or given back.
  bool allocates = false;
};

/// Compares the desired status with `observed` (JSON, may be empty). nullopt: nothing needs to be written. `now`: RFC
/// 3339.
std::optional<StatusChange> change_of_status(const DesiredStatus& desired, const std::string& observed,
                                             const AgentsView& agents, const std::string& controller_class,
                                             const std::string& now);

/// Formats a time by RFC 3339, to the second.
std::string timestamp_text(std::chrono::system_clock::time_point time);

}  // namespace edge::controller
