// Which paths to another site the traffic of one policy takes: a pure function of what is known of the paths, and of
// what it decided before. docs/sdwan.md.
//
// A path is eligible from the first time that it is fit. It stops being eligible when a fault has lasted `after`, and
// is again when it has been fit for `back_after`: twice as long each time that it fails soon after it came back. The
// strategy chooses among eligible paths, so that a path at its limit cannot move traffic back and forth. Without one,
// paths that are fit are used before their wait is over: to stay away from them would help nobody.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/wan/fitness.h"

namespace edge::agent::wan {

enum class Strategy : std::uint8_t { kPreferred, kLowestLatency, kLowestLoss, kLoadBalance };
enum class Fallback : std::uint8_t { kBestEffort, kDrop };

struct ChoiceSettings {
  Strategy strategy = Strategy::kPreferred;
  Fallback fallback = Fallback::kBestEffort;
  Time after = std::chrono::seconds(3);
  Time back_after = std::chrono::seconds(60);
};

/// A path that the policy allows, in the order of preference.
struct Candidate {
  bool metered = false;      ///< is taken when no other is eligible
  bool backup = false;       ///< is taken when no primary one is
  std::uint32_t weight = 1;  ///< of LoadBalance: its bandwidth; at least 1
};

/// What is known of a candidate now.
struct PathState {
  Fault fault = Fault::kNone;
  Time since{};           ///< when the fault began, or the last one ended
  bool measured = false;  ///< false: nothing is known of it yet
  Time latency{};
  double loss_low = 0;
  double loss_high = 1;
};

/// Returns the state of an enabled path. `quality` is the meter's.
PathState path_state(const PathMeter& meter, const Fitness& fitness, const Quality& quality);

/// A path is better by latency when it is by this much, and below two thirds.
inline constexpr Time kBetterBy = std::chrono::milliseconds(10);
/// Limit of the time that a path which keeps failing must be fit.
inline constexpr Time kLongestBack = std::chrono::hours(8);

enum class Cause : std::uint8_t {
  kStart,     ///< the first choice
  kFault,     ///< the path before is not eligible any more
  kReturned,  ///< a path that is preferred became eligible
  kBetter,    ///< by latency or loss
  kNoneFit,   ///< no path is fit: the best that lives, or none
};
std::string_view to_string(Cause cause);

/// What carries the traffic: indexes of candidates, ascending. Several with LoadBalance, in proportion to their
/// weights.
struct Selection {
  std::vector<std::size_t> paths;
  bool best_effort = false;  ///< no path is fit
  bool dropped = false;      ///< none may be used
  friend bool operator==(const Selection&, const Selection&) = default;
};

struct Change {
  Selection before;
  Selection now;
  Cause cause = Cause::kStart;
  Fault fault = Fault::kNone;  ///< of the path that was left
};

class Choice {
 public:
  Choice(const ChoiceSettings& settings, std::vector<Candidate> candidates);

  /// Decides. `paths` has one entry a candidate. To be called with every change of them, and often enough for `after`.
  /// \returns the change, when there is one.
  std::optional<Change> step(std::span<const PathState> paths, Time now);

  const Selection& selection() const { return selection_; }
  bool eligible(std::size_t path) const { return members_[path].eligible; }
  /// How long `path` must be fit before it is eligible again.
  Time back_after(std::size_t path) const { return members_[path].back_after; }

 private:
  struct Member {
    Candidate candidate;
    bool eligible = false;
    bool was_eligible = false;
    Time changed{};
    Time back_after{};
  };

  void update(Member& member, const PathState& path, Time now);
  std::vector<std::size_t> best_tier(const std::vector<std::size_t>& among) const;
  std::vector<std::size_t> eligible_paths() const;
  std::vector<std::size_t> fit_paths(std::span<const PathState> paths) const;
  std::size_t choose(const std::vector<std::size_t>& among, std::span<const PathState> paths) const;
  Selection decide(std::span<const PathState> paths) const;
  Selection best_effort(std::span<const PathState> paths) const;
  Cause cause(const Selection& now, std::span<const PathState> paths) const;

  ChoiceSettings settings_;
  std::vector<Member> members_;
  Selection selection_{};
  bool chosen_ = false;
};

}  // namespace edge::agent::wan
