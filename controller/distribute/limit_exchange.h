// What passes rate limits of scope Cluster, on its way between agents: each hears what has passed on the others. A pure
// function of what is told to it, without I/O or a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace edge::controller {

/// Requests of one key that have passed a limit.
struct LimitUse {
  std::uint64_t limit = 0;
  std::uint64_t key = 0;
  std::uint32_t requests = 0;
  friend bool operator==(const LimitUse&, const LimitUse&) = default;
};

/// Threads: any.
class LimitExchange {
 public:
  /// Of one report, and of one answer.
  static constexpr std::size_t kMostReported = 1024;
  static constexpr std::size_t kMostTold = 4096;
  /// That wait for one agent; what comes beyond is left out, and its limit counts it too late or not at all.
  static constexpr std::size_t kMostWaiting = 65'536;

  using Member = std::uint64_t;

  /// `seed`: that the agent hashes keys with; the first one's becomes that of all.
  Member join(std::uint64_t seed);
  void leave(Member member);
  /// Adds what has passed on `member` to what waits for the others. A count of one key is added up.
  void report(Member member, std::span<const LimitUse> uses);

  struct News {
    std::uint64_t seed = 0;
    std::uint32_t members = 0;
    std::vector<LimitUse> uses{};
  };
  /// Takes what waits for the agent, at most kMostTold keys.
  News take(Member member);

  /// Returns how many uses were left out.
  std::uint64_t left_out() const;

 private:
  mutable std::mutex mutex_;  ///< guards all
  std::uint64_t seed_ = 0;    ///< 0: none yet. It stays when all agents have gone: those that come back have it
  Member last_ = 0;
  std::map<Member, std::unordered_map<std::uint64_t, LimitUse>> waiting_;  ///< by key, which the limit is part of
  std::uint64_t left_out_ = 0;
};

}  // namespace edge::controller
