// What two clusters say to each other over one connection: frames in, frames out, no I/O (decision 0271).
//
//   Hello    who I am, which lives my state has had, what I remember of yours
//   Resume   how far I have processed your state; whether yours may hold what was deleted since
//   Delta    versions in the order in which they came, from there on; Ack when they are persisted
//   Digests  each `syncInterval`: roots, then leaves, then lists of what differs, then the versions
//
// A stale side, whose state comes from a backup or was suspended while deletions were collected, is sent the whole
// list. It removes what the other is known to have had and does not list, and nothing before the list has ended.
//
// The transport passes frames of one connection only. Frames that come twice are ignored, and those that come early
// wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "controller/federation/digest.h"
#include "controller/federation/frame.h"
#include "controller/federation/replica.h"

namespace edge::federation {

struct SessionOptions {
  std::int64_t sync_interval = 300'000;  ///< milliseconds between comparisons
  std::size_t most_in_flight = 1 << 20;  ///< bytes that are not acknowledged
  std::size_t most_delta = 256 << 10;    ///< bytes of one frame
};

struct SessionFacts {
  bool greeted = false;       ///< both know each other
  bool comparing = false;     ///< this side is stale, and the list has not ended
  bool synchronized = false;  ///< the peer has everything that was there when last asked
  std::uint64_t lag = 0;      ///< sequence numbers that the peer has not acknowledged
  std::uint64_t sent_versions = 0;
  std::uint64_t received_versions = 0;
  std::uint64_t refused_versions = 0;  ///< of the peer, here
  std::uint64_t refused_by_peer = 0;
  std::uint64_t comparisons = 0;
  std::uint64_t differences = 0;  ///< leaves that differed
  std::uint64_t retired = 0;      ///< objects that the whole list did not have
};

class Session {
 public:
  /// `peer`: UID of the cluster that TLS has authenticated; `replica` has it among its peers, and outlives the session.
  Session(Replica& replica, std::string peer, SessionOptions options, std::int64_t now);

  /// An error ends the connection. \returns after the state has changed: it is to be persisted before frames of `take`
  /// are sent.
  Status receive(Frame frame, std::int64_t now);
  /// Returns the frames to send now, in order: of changes of the state too. To be called after each change, after
  /// `receive`, and about once a second.
  std::vector<Frame> take(std::int64_t now);
  /// Compares at the next `take`.
  void compare_now() { next_comparison_ = 0; }

  SessionFacts facts() const;
  const std::string& peer() const { return peer_; }

 private:
  using DotOf = std::pair<ObjectKey, Dot>;

  Status process(Frame& frame, std::int64_t now);
  Status on(const Hello& hello, std::int64_t now);
  Status on(const Resume& resume, std::int64_t now);
  Status on(const Members& members, std::int64_t now);
  Status on(const Delta& delta, std::int64_t now);
  Status on(const Ack& ack, std::int64_t now);
  Status on(const Digests& digests, std::int64_t now);
  Status on(const Leaves& leaves, std::int64_t now);
  Status on(const Listing& listing, std::int64_t now);
  Status on(const Settle& settle, std::int64_t now);
  void begin_comparing(const Hello& theirs, std::uint64_t processed);
  Status end_comparing(std::int64_t now);
  Status remember_deletions(std::int64_t now);
  void send_deltas();
  void send_missing(const Listing& theirs);
  void send_listing(const std::string& kind, const std::vector<std::uint32_t>& leaves, bool answer);
  void send_versions(std::vector<VersionPtr> versions);
  void say(auto body) { out_.push_back({.number = ++said_, .body = std::move(body)}); }
  Peer* record() { return replica_->peer(peer_); }
  bool ready() const { return greeted_ && resumed_; }

  Replica* replica_;
  std::string peer_;
  SessionOptions options_;
  std::vector<Frame> out_;
  std::uint64_t said_ = 0;
  std::uint64_t heard_ = 0;
  std::map<std::uint64_t, Frame> early_;

  bool greeted_ = false;
  bool resumed_ = false;
  bool heard_delta_ = false;
  Hello theirs_{};
  bool peer_stale_ = false;         ///< it compares with our list
  std::uint64_t list_through_ = 0;  ///< the end of that list
  bool list_sent_ = true;
  bool resending_ = false;
  bool comparing_ = false;
  std::set<DotOf> unlisted_;    ///< that the peer is known to have had, and has not listed yet
  std::set<ObjectKey> listed_;  ///< objects in its list

  std::uint64_t members_sent_ = 0;                  ///< their version
  std::uint64_t sent_ = 0;                          ///< sequence number that was sent last
  std::map<std::uint64_t, std::size_t> in_flight_;  ///< bytes, by what they reach to
  std::size_t bytes_in_flight_ = 0;
  std::int64_t next_comparison_ = 0;
  SessionFacts facts_{};
};

}  // namespace edge::federation
