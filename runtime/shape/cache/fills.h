// Fetches that fill the cache, at most one per key in the process, and the requests that wait for them (request
// collapsing). A wait ends when the response starts to arrive and may be read as it grows, when it is stored, or as
// soon as it is known that it will not be stored: then all waiting requests go to the upstream themselves, at once.
//
// Threads: any. A waiting request is woken by its own callback, which hands over to its thread.
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
  /// Seconds during which requests do not wait for a key whose response could not be stored.
  static constexpr Seconds kPassFor = 10;

  enum class Role : std::uint8_t { kLeader, kReads, kWaits, kGoesOn };
  struct Joined {
    Role role = Role::kGoesOn;
    std::shared_ptr<Fill> fill;            ///< set except for kGoesOn
    std::shared_ptr<const Entry> growing;  ///< for kReads: the response being stored
  };
  /// What a joining request waits for.
  enum class For : std::uint8_t { kBeginning, kEnd };
  /// Starts the fill of `id` with the caller as leader, or waits for the one in progress: `wake` is called once, from
  /// any thread. Without `wake` the caller does not wait. `target`: the name that `doom` uses.
  Joined join(const std::string& id, std::string_view target, Seconds now, For what, std::function<void()> wake);
  /// Forbids storing the results of all fills in progress for the target, because it changed meanwhile. Empty: of all
  /// targets.
  void doom(std::string_view target);
  std::size_t size() const;

 private:
  friend class Fill;
  using Wakes = std::vector<std::function<void()>>;
  void end(Fill& fill);
  std::atomic<std::uint64_t>& pass_mark(std::string_view id);

  mutable std::mutex mutex_;
  /// The fills in progress by key. Clients choose the keys, hence the keyed hash.
  std::unordered_map<std::string, std::shared_ptr<Fill>, KeyedHash, std::equal_to<>> fills_;
  /// Until when requests for keys that could not be stored do not wait, by hash: a collision only shortens waits.
  std::array<std::atomic<std::uint64_t>, 4096> pass_until_{};
};

/// One fill in progress. Its leader must end it in all cases.
class Fill {
 public:
  Fill(Fills& fills, std::string id, std::string target)
      : fills_(fills), id_(std::move(id)), target_(std::move(target)) {}
  Fill(const Fill&) = delete;
  Fill& operator=(const Fill&) = delete;

  /// Publishes the response being stored, so that waiting requests can read its body as it arrives. Called by the
  /// leader; wakes all waiting requests.
  void publish(std::shared_ptr<const Entry> growing);
  /// Wakes all readers: the body has grown, or has ended early. Called by the leader.
  void progress();
  /// Returns whether the byte at `at` of the body, which was missing, has arrived or will: see BodySource.
  BodySource::More await(const Body& body, std::uint64_t at, const std::function<void()>& wake);
  /// Registers a reader, for whom the fetch then continues even if its client leaves. False: the fill was just
  /// abandoned.
  bool begin_reading();
  void end_reading() { readers_.fetch_sub(1, std::memory_order_relaxed); }
  /// Sets the callback for the first reader, called on that reader's thread. Called by the leader.
  void tell_of_readers(std::function<void()> wake);
  bool is_read() const { return readers_.load(std::memory_order_relaxed) != 0; }
  /// Called by a leader that does not need the response any more. Returns true when other requests read it; else no
  /// request can begin to.
  bool withdraw();

  /// Ends the fill: the response was stored, or is not worth waiting for. Called by the leader; wakes all waiting
  /// requests.
  void end();
  /// As `end`; requests do not wait for this key for kPassFor seconds.
  void pass(Seconds now);
  /// Returns whether the target was changed or purged after the fill began.
  bool doomed() const { return doomed_.load(std::memory_order_acquire); }

 private:
  friend class Fills;
  Fills& fills_;
  const std::string id_;
  const std::string target_;
  std::atomic<bool> doomed_{false};
  std::atomic<std::uint32_t> readers_{0};
  // Guarded by the mutex of fills_.
  bool ended_ = false;
  std::shared_ptr<const Entry> growing_;
  std::vector<std::function<void()>> waiting_;
  std::vector<std::function<void()>> reading_;
  std::function<void()> on_reader_;
};

}  // namespace edge::runtime::cache
