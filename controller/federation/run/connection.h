// One tunnel to a peer, and the session over it. On the federation's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "controller/federation/frame.h"
#include "controller/federation/session.h"
#include "controller/remote/tunnel.h"

namespace edge::federation {

using RefusedCounts = std::map<Refusal, std::uint64_t>;

/// Of a peer, over all of its connections in this run.
struct PeerCounts {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_versions = 0;
  std::uint64_t received_versions = 0;
  std::uint64_t comparisons = 0;
  std::uint64_t differences = 0;
  RefusedCounts refused{};          ///< of its versions, here
  RefusedCounts refused_by_peer{};  ///< of ours, there
  std::int64_t since = 0;           ///< when it connected, or was connected last
  std::int64_t last_comparison = 0;
  std::int64_t behind_since = 0;     ///< of the steady clock; 0: it lacks nothing
  std::uint64_t behind_through = 0;  ///< it lacks nothing of then when it has acknowledged so much
  std::string fault{};
};

struct IncomingFrame {
  std::string bytes;
  std::function<void(Status)> done;  ///< null: it was called already
};

struct Connection {
  controller::remote::TunnelPeer peer;
  std::unique_ptr<Session> session{};  ///< null: it is not federated with
  SessionFacts counted{};              ///< what of the session is in PeerCounts
  std::deque<IncomingFrame> in{};
  std::size_t in_bytes = 0;
  std::deque<std::string> out{};  ///< for which the tunnel has no room yet
  bool over = false;              ///< nothing is taken any more
};

}  // namespace edge::federation
