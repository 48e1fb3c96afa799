// Requests that are under way to fill the cache: one a key in the whole process, and who waits for it (request
// collapsing). A wait ends when the answer is stored, or as soon as it is known that it will not be: then those who
// waited go on themselves, all at once.
//
// Threads: any. A waiting one is woken through its own callback, which hands over to its thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/shape/cache/directives.h"

namespace edge::runtime::cache {

class Fill;

class Fills {
 public:
  /// For so long nobody waits for a key whose answer could not be stored.
  static constexpr Seconds kPassFor = 10;

  enum class Role : std::uint8_t { kLeader, kWaits, kGoesOn };
  struct Joined {
    Role role = Role::kGoesOn;
    std::shared_ptr<Fill> fill;  ///< kLeader and kWaits
  };
  /// Begins the fill of `id`, or waits for the one that has begun: `wake` is called once, from any thread. Without
  /// `wake` nobody waits. `target`: what `doom` names.
  Joined join(const std::string& id, std::string_view target, Seconds now, std::function<void()> wake);
  /// Nothing that has begun for the target may be stored any more: it was changed meanwhile. Empty: nothing at all.
  void doom(std::string_view target);
  std::size_t size() const;

 private:
  friend class Fill;
  void end(Fill& fill);
  std::atomic<std::uint64_t>& pass_mark(std::string_view id);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Fill>> fills_;
  /// When keys that could not be stored may be waited for again, by hash: two keys that meet only wait less.
  std::array<std::atomic<std::uint64_t>, 4096> pass_until_{};
};

/// One that has begun. Its leader must end it, whatever happens.
class Fill {
 public:
  Fill(Fills& fills, std::string id, std::string target)
      : fills_(fills), id_(std::move(id)), target_(std::move(target)) {}
  Fill(const Fill&) = delete;
  Fill& operator=(const Fill&) = delete;

  /// Of the leader: the answer was stored, or is not worth waiting for. Wakes everybody.
  void end();
  /// The same, and nobody waits for this key for a while.
  void pass(Seconds now);
  /// The target was changed, or purged, after this began.
  bool doomed() const { return doomed_.load(std::memory_order_acquire); }

 private:
  friend class Fills;
  Fills& fills_;
  const std::string id_;
  const std::string target_;
  std::atomic<bool> doomed_{false};
  bool ended_ = false;                          // under the mutex of fills_
  std::vector<std::function<void()>> waiting_;  // as well
};

}  // namespace edge::runtime::cache
