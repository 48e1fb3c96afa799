// `--wait=programmed`: until every agent runs what was written. The controller is asked what its agents run; where it
// cannot be asked, because its administrator's file is not here, what it wrote into the status of each object.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/rollout.h"

namespace edge::edgectl {

/// What the status of an object says of a generation.
struct Progress {
  enum class State : std::uint8_t {
    kWaiting,   ///< nothing yet, or of an older generation
    kDone,      ///< programmed
    kRejected,  ///< will not be programmed as it stands
  };
  State state = State::kWaiting;
  std::string reason;  ///< the condition's reason and message, where it is not done
};

/// By the conditions Accepted and Programmed (of a route of Gateway API: of every parent).
Progress progress_of(const nlohmann::json& object, std::int64_t generation);

/// Whether a controller writes conditions for this kind: own kinds and those of Gateway API.
bool has_conditions(const Type& type);

/// Waits for all, says of each that fails why, and of what is not done in time which agents are behind; gives the exit
/// code. On a terminal stderr shows how many are left. `arguments`: by which the controller is found.
int wait_programmed(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                    std::vector<Written> all, std::chrono::milliseconds patience);

/// Waits until the object is no more, or is another one. false: it is still there when the time is over.
bool wait_gone(Cluster& cluster, const Type& type, const std::string& name_space, const std::string& name,
               const std::string& uid, std::chrono::milliseconds patience);

}  // namespace edge::edgectl
