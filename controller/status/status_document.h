// The status of a resource as it should stand in the cluster: the compiler's verdict, what agents say, and the times of
// what stands there now. A pure function; status_writer.h brings the outcome there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/status/agents_view.h"
#include "controller/status/desired_status.h"

namespace edge::controller {

/// A condition that is another than it was.
struct ConditionFlip {
  std::string type, status, reason, message;
  bool first = false;   ///< there was none of this type before
  std::string where{};  ///< `listener http`, `Gateway shop/web`; empty: of the resource as a whole
};

struct StatusChange {
  /// The fields of `status` that differ, as JSON for a merge patch.
  std::string fields;
  std::vector<ConditionFlip> flips;  ///< of the resource, its listeners, its parents or ancestors
  /// All that differs is that agents do not run it yet: worth a moment's patience.
  bool only_pending = false;
  /// All that differs is what endpoints answer to health checks, not whether they are healthy.
  bool only_checks = false;
};

/// nullopt: what is observed says it all. `observed`: the status as it is, JSON, may be empty. `now`: RFC 3339.
std::optional<StatusChange> change_of_status(const DesiredStatus& desired, const std::string& observed,
                                             const AgentsView& agents, const std::string& controller_class,
                                             const std::string& now);

/// RFC 3339, to the second.
std::string timestamp_text(std::chrono::system_clock::time_point time);

}  // namespace edge::controller
