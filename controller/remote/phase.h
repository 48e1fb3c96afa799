// The phase of an EdgeRemoteCluster, from what is known of it at some time: a pure function.
//
//   Pending       nobody has come, or been called, yet
//   Connecting    there is a connection, or one is being made, over which no probe has gone both ways yet
//   Connected     each side has lately had an answer to a probe of its own
//   Degraded      the other side is heard, and something is amiss: a probe without an answer, agents that do not run
//                 their cluster's program, a certificate that is not renewed
//   Disconnected  it was connected before, and is silent; or it is suspended
//   Failed        it was refused, which no further attempt changes: somebody has to act
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "controller/remote/link.h"

namespace edge::controller::remote {

enum class Phase : std::uint8_t { kPending, kConnecting, kConnected, kDegraded, kDisconnected, kFailed };
std::string_view to_string(Phase phase);

struct ClusterFacts {
  bool suspended = false;
  bool was_connected = false;  ///< at some time, in this run or an earlier one
  bool dials = false;          ///< this side connects, and is trying
  std::optional<LinkFacts> link{};
  std::optional<Report> report{};
  bool certificate_ends = false;  ///< soon, and should have been renewed long ago
  std::string refusal{};          ///< a reason of a condition: why it is refused; empty: it is not
  std::string refusal_message{};
  std::string last_error{};  ///< how the last connection, or attempt, ended
};

/// Returns the reason of a condition for an error that nothing but somebody's act changes; empty for another one.
std::string_view refusal_of(ErrorCode code);

struct PhaseView {
  Phase phase = Phase::kPending;
  std::string reason;  ///< of a condition
  std::string message;
  friend bool operator==(const PhaseView&, const PhaseView&) = default;
};

PhaseView phase_of(const ClusterFacts& facts, const Heartbeat& heartbeat, net::Time now);

}  // namespace edge::controller::remote
