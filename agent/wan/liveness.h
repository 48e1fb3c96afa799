// Whether a path lives, apart from how well: from which of its probes were answered. Without clock or socket.
//
// A path is dead when the probes that were missed in a row are no chance any more: a path that loses as much as this
// one did lately would miss so many once in a million probes, which is once a day at ten a second. A clean path is dead
// after three; one that loses a third of its packets lives through a dozen, as what it loses is its quality.
#pragma once

#include <array>

#include "agent/wan/change_detector.h"

namespace edge::agent::wan {

/// The fewest probes in a row that make a path dead when they are missed.
inline constexpr unsigned kFewestMissed = 3;
/// The most: so many make any path dead, whatever it lost before.
inline constexpr unsigned kMostMissed = 30;
/// Answers that make a path alive, without kFewestMissed missed probes in a row between them.
inline constexpr unsigned kAnswersToLive = 3;

class Liveness {
 public:
  /// Takes a probe's outcome. `sent`: when the probe was sent.
  void answered(Time sent);
  void missed(Time sent);

  bool alive() const { return alive_; }
  /// When the last change of `alive` began: the sending of the first of the probes that decided it.
  Time since() const { return since_; }
  /// Probes in a row that are missed now until the path is dead; within [kFewestMissed, kMostMissed].
  unsigned missed_until_dead() const { return until_dead_; }

 private:
  void count(bool missed);
  void turn(bool alive);

  bool alive_ = false;
  Time since_{};
  unsigned missed_ = 0;  ///< in a row
  Time missed_since_{};
  unsigned answers_ = 0;  ///< of a dead path
  Time answers_since_{};
  /// Shares of missed probes while it lived: of the last few, which follows a change at once, and of the last hundred,
  /// which a lucky row of answers does not make forget.
  std::array<double, 2> lost_{};
  unsigned until_dead_ = kFewestMissed;
};

}  // namespace edge::agent::wan
