// What passes rate limits of scope Cluster, on its way between agents: each hears what has passed on the others. A pure
// function of what is told to it, without I/O or a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
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
  /// That wait for one agent; what comes beyond is left out, and its limit does not count it there.
  static constexpr std::size_t kMostWaiting = 65'536;
  /// Reports, times the members, that one may leave untaken: some seconds of all their words, and more than one agent
  /// may say at once. Then it counts as none of those that share, and nothing waits for it until it takes again.
  static constexpr std::uint64_t kMostUntaken = 128;

  using Member = std::uint64_t;

  /// `name`: the agent's own; an older member of that name is replaced, and is none any more. `seed`: that the agent
  /// hashes keys with; the first one's becomes that of all.
  Member join(const std::string& name, std::uint64_t seed);
  /// Does nothing for a replaced member.
  void leave(Member member);
  /// Adds what has passed on `member` to what waits for the others. A count of one key is added up. A replaced member
  /// is not heard.
  void report(Member member, std::span<const LimitUse> uses);

  struct News {
    std::uint64_t seed = 0;
    std::uint32_t members = 0;  ///< that take what waits for them
    std::vector<LimitUse> uses{};
  };
  /// Takes what waits for the agent, at most kMostTold keys.
  News take(Member member);

 private:
  struct Waiting {
    std::string name;
    std::uint64_t untaken = 0;                           ///< reports of others since it took last
    std::unordered_map<std::uint64_t, LimitUse> uses{};  ///< by key, which the limit is part of
  };
  bool listens(const Waiting& waiting) const { return waiting.untaken <= kMostUntaken * members_.size(); }

  std::mutex mutex_;        ///< guards all
  std::uint64_t seed_ = 0;  ///< 0: none yet. It stays when all agents have gone: those that come back have it
  Member last_ = 0;
  std::map<Member, Waiting> members_;
  std::map<std::string, Member> by_name_;
};

}  // namespace edge::controller
