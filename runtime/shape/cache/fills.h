// Requests that are under way to fill the cache: one a key in the whole process, and who waits for it (request
// collapsing). A wait ends when the answer begins to come and may be read as it grows, when it is stored, or as soon as
// it is known that it will not be: then those who waited go on themselves, all at once.
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

#include "base/keyed_hash.h"
#include "runtime/shape/body_source.h"
#include "runtime/shape/cache/directives.h"
#include "runtime/shape/cache/entry.h"

namespace edge::runtime::cache {

class Fill;

class Fills {
 public:
  /// For so long nobody waits for a key whose answer could not be stored.
  static constexpr Seconds kPassFor = 10;

  enum class Role : std::uint8_t { kLeader, kReads, kWaits, kGoesOn };
  struct Joined {
    Role role = Role::kGoesOn;
    std::shared_ptr<Fill> fill;            ///< all but kGoesOn
    std::shared_ptr<const Entry> growing;  ///< kReads: what is on its way in
  };
  /// What somebody waits for who joins.
  enum class For : std::uint8_t { kBeginning, kEnd };
  /// Begins the fill of `id`, or waits for the one that has begun: `wake` is called once, from any thread. Without
  /// `wake` nobody waits. `target`: what `doom` names.
  Joined join(const std::string& id, std::string_view target, Seconds now, For what, std::function<void()> wake);
  /// Nothing that has begun for the target may be stored any more: it was changed meanwhile. Empty: nothing at all.
  void doom(std::string_view target);
  std::size_t size() const;

 private:
  friend class Fill;
  using Wakes = std::vector<std::function<void()>>;
  void end(Fill& fill);
  std::atomic<std::uint64_t>& pass_mark(std::string_view id);

  mutable std::mutex mutex_;
  /// What strangers ask for.
  std::unordered_map<std::string, std::shared_ptr<Fill>, KeyedHash, std::equal_to<>> fills_;
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

  /// Of the leader: this is what comes, and may be read while its body grows. Wakes everybody.
  void publish(std::shared_ptr<const Entry> growing);
  /// Of the leader: the body has grown, or will not any more. Wakes who reads it.
  void progress();
  /// What becomes of the byte at `at` of the body, which was not there: see BodySource.
  BodySource::More await(const Body& body, std::uint64_t at, const std::function<void()>& wake);
  /// Of who reads: from now on it is fetched for this one as well. False: it is given up just now.
  bool begin_reading();
  void end_reading() { readers_.fetch_sub(1, std::memory_order_relaxed); }
  /// Of the leader: `wake` is called when the first begins to read, by its thread.
  void tell_of_readers(std::function<void()> wake);
  bool is_read() const { return readers_.load(std::memory_order_relaxed) != 0; }
  /// Of the leader, who has no use for it any more: true when others read it. Else nobody will.
  bool withdraw();

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
  std::atomic<std::uint32_t> readers_{0};
  // Under the mutex of fills_.
  bool ended_ = false;
  std::shared_ptr<const Entry> growing_;
  std::vector<std::function<void()>> waiting_;
  std::vector<std::function<void()>> reading_;
  std::function<void()> on_reader_;
};

}  // namespace edge::runtime::cache
