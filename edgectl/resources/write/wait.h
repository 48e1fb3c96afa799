// `--wait=programmed`: waits until every agent runs what was written. By the controller's report on its agents; without
// its administrator's file, by the status of each object.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/write/rollout.h"

namespace edge::edgectl {

/// The progress of a generation in an object's status.
struct Progress {
  enum class State : std::uint8_t {
    kWaiting,   ///< nothing yet, or for an older generation
    kDone,      ///< programmed
    kRejected,  ///< will not be programmed in this version
  };
  State state = State::kWaiting;
  std::string reason;  ///< the condition's reason and message, unless done
};

/// Evaluates the conditions Accepted and Programmed (of a route of Gateway API: of every parent).
Progress progress_of(const nlohmann::json& object, std::int64_t generation);

/// Returns whether a controller writes conditions for this kind: own kinds and those of Gateway API.
bool has_conditions(const Type& type);

/// Waits for all objects, reports failures, and on timeout which agents are behind; returns the exit code. On a
/// terminal stderr shows how many remain. `arguments`: for finding the controller.
int wait_programmed(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                    std::vector<Written> all, std::chrono::milliseconds patience);

/// Waits until the object was deleted or replaced. false: it still exists after the time.
bool wait_gone(Cluster& cluster, const Type& type, const std::string& name_space, const std::string& name,
               const std::string& uid, std::chrono::milliseconds patience);

}  // namespace edge::edgectl
