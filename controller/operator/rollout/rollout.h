// How agents are exchanged for those of another template: one first, the rest when that one has held, back when it has
// not. Pure: what is known now gives the next step, so that an operator that is killed goes on where it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/operator/rollout/canary.h"

namespace edge::cluster_operator {

using WallTime = std::chrono::system_clock::time_point;

struct AgentPod {
  std::string name;
  std::string node;
  std::string template_hash;
  bool ready = false;
  bool leaving = false;
  WallTime ready_since{};
};

/// What the operator keeps of the exchange, in a Secret.
struct RolloutRecord {
  enum class Canary : std::uint8_t { kNone, kStarted, kPassed, kFailed };
  /// The last template that every agent ran, and the object that has it.
  std::string sound_hash{};
  std::string sound_object{};
  /// Which template the canary is of; what follows is about it.
  std::string canary_hash{};
  Canary canary = Canary::kNone;
  WallTime since{};
  std::string canary_node{};
  /// Requests of the agent on that node before it was replaced (write_traffic).
  std::string before{};
  /// Why the canary failed, for users.
  std::string reason{};

  friend bool operator==(const RolloutRecord&, const RolloutRecord&) = default;
};
nlohmann::json write_record(const RolloutRecord& record);
/// What is no record reads as an empty one.
RolloutRecord read_record(const nlohmann::json& data);

struct RolloutOptions {
  /// How long a canary must have been ready.
  std::chrono::nanoseconds hold = std::chrono::seconds(30);
  /// Until when it must have been, and its requests compared.
  std::chrono::nanoseconds patience = std::chrono::minutes(10);
};

struct RolloutView {
  std::string wanted_hash;
  std::int64_t wanted_count = 0;
  std::vector<AgentPod> pods{};
  /// At a time; at least 1.
  std::int64_t max_unavailable = 1;
  /// The pods are somebody else's to delete.
  bool by_hand = false;
  /// Of the canary's requests; kNone: not known yet.
  Comparison comparison{};
  WallTime now{};
};

struct RolloutStep {
  enum class Kind : std::uint8_t { kDone, kWait, kReplace, kGoBack };
  Kind kind = Kind::kWait;
  /// Of kReplace: names of pods to be deleted.
  std::vector<std::string> pods{};
  /// Of kWait: when to look again; max: when something changes.
  WallTime until = WallTime::max();
  /// For people.
  std::string text{};
  RolloutRecord record{};
};

/// The canary that is watched, ready; null: none is watched, or it is not ready.
const AgentPod* watched_canary(const RolloutView& view, const RolloutRecord& record);
RolloutStep next_step(const RolloutView& view, const RolloutRecord& record, const RolloutOptions& options);
/// A number or a percentage, rounded up, of `total`; at least 1.
std::int64_t unavailable_of(const nlohmann::json& max_unavailable, std::int64_t total);

}  // namespace edge::cluster_operator
