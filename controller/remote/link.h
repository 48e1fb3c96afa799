// One connection to another cluster's controller, without I/O: probes, their answers, and what follows of them. The
// same on both sides; the caller passes words and time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/result.h"
#include "controller/remote/words.h"
#include "net/clock.h"

namespace edge::controller::remote {

/// What is known of a connection at some time.
struct LinkFacts {
  net::Time opened{};
  net::Time heard{};                         ///< the other side's last word
  std::optional<net::Time> answered{};       ///< when it last answered a probe of ours
  std::optional<net::Time> peer_answered{};  ///< when it last said that we have answered another one of its
  std::optional<net::Time> unanswered{};     ///< when the oldest probe was sent that has no answer yet
  net::Duration round_trip{};                ///< of the last answer; 0: none
  friend bool operator==(const LinkFacts&, const LinkFacts&) = default;
};

/// Not thread-safe.
class Link {
 public:
  /// Words a second that the other side may say, and at once. With the shortest heartbeat it says thirty.
  static constexpr double kWordsASecond = 50;
  static constexpr double kMostWordsAtOnce = 100;

  Link(Heartbeat heartbeat, net::Time now) : heartbeat_(heartbeat), next_probe_(now), filled_(now) {
    facts_.opened = facts_.heard = now;
  }

  const Heartbeat& heartbeat() const { return heartbeat_; }
  /// The next probe is due by it.
  void set_heartbeat(Heartbeat heartbeat, net::Time now);
  /// kResourceExhausted: it says too much; kInvalidArgument: it answers what was not asked. Both end the connection.
  Status hear(const Word& word, net::Time now);
  /// Returns what is to be said now. `own`: said with a probe where it has changed.
  std::vector<Word> due(const Report& own, net::Time now);
  /// Whether the other side is given up.
  bool is_lost(net::Time now) const { return now - facts_.heard >= heartbeat_.timeout; }

  const LinkFacts& facts() const { return facts_; }
  const std::optional<Report>& report() const { return report_; }

 private:
  struct Sent {
    std::uint64_t number;
    net::Time at;
  };
  Status count(net::Time now);
  Status take(const ProbeReply& reply, net::Time now);
  void take(const Probe& probe, net::Time now);

  Heartbeat heartbeat_;
  LinkFacts facts_;
  std::optional<Report> report_;
  std::optional<Report> told_;  ///< the last own one
  std::vector<ProbeReply> replies_;
  std::deque<Sent> sent_;  ///< without an answer, oldest first
  net::Time next_probe_;
  std::uint64_t last_number_ = 0;
  std::uint64_t answered_number_ = 0;
  std::uint64_t told_answered_ = 0;
  std::uint64_t peer_answered_number_ = 0;
  double words_ = kMostWordsAtOnce;
  net::Time filled_;
};

}  // namespace edge::controller::remote
