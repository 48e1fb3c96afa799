// What the status of an EdgeCluster should be, from what is known of its parts. Pure.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "controller/operator/rollout/rollout.h"

namespace edge::cluster_operator {

/// How one reconciliation found an installation and left it.
struct Standing {
  std::int64_t generation = 0;
  std::string version;  ///< that is wanted
  bool paused = false;
  bool wants_dashboard = false;
  std::string fault{};    ///< of the resource itself
  std::string failure{};  ///< of a call
  std::int64_t controllers = 0, controllers_ready = 0;
  std::int64_t agents = 0, agents_ready = 0;
  std::int64_t dashboards = 0, dashboards_ready = 0;
  bool controller_done = false;  ///< all of them are of this template and ready
  bool agents_done = false;
  bool web_done = false;
  bool exchanging = false;  ///< pods of another template are still there
  RolloutRecord::Canary canary = RolloutRecord::Canary::kNone;
  std::string canary_reason{};  ///< of a canary that failed
  std::string text{};           ///< what is waited for
  /// Of the definitions of the kinds, where they are not this version's.
  std::string definitions_reason{}, definitions_message{};
};

/// `old`: the status that is there. Times in it stay where nothing turned.
nlohmann::json next_status(const nlohmann::json& old, const Standing& standing, WallTime now);

}  // namespace edge::cluster_operator
