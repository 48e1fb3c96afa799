// The connection limit of one backend: how many connections the process has, and how many requests wait for one. Exact
// over all threads. A thread that needs a connection makes others close an idle one; a thread that closes one wakes a
// waiting thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "net/counter.h"

namespace edge::runtime {

/// A counter that never exceeds a limit. Threads: any.
class BoundedCount {
 public:
  /// Adds one; false at the limit. `limit` 0: no limit.
  bool take(std::uint32_t limit) {
    std::uint32_t now = value_.load();
    do {
      if (limit != 0 && now >= limit) return false;
    } while (!value_.compare_exchange_weak(now, now + 1));
    return true;
  }
  void give() { value_.fetch_sub(1); }
  std::uint32_t value() const { return value_.load(); }

 private:
  std::atomic<std::uint32_t> value_{0};
};

class ConnectionRoom {
 public:
  /// The connections of one thread. Called under the lock from any thread: implementations may only post to their own
  /// thread.
  class Member {
   public:
    virtual void room_wanted() = 0;
    virtual void room_free() = 0;

   protected:
    ~Member() = default;
    /// Idle connections.
    net::Counter idle_;

   private:
    friend class ConnectionRoom;
    std::uint32_t queued_ = 0;  // guarded by the room's mutex
  };

  void join(Member& member);
  void leave(Member& member);

  /// Reserves one connection. Cost: one compare-and-exchange.
  bool take(std::uint32_t limit) { return connections_.take(limit); }
  /// Releases a connection. The caller wakes a request of its own, or calls `offer`.
  void give() { connections_.give(); }

  /// Enters the queue. `take` must be called once more after it: a connection may have been released in between.
  bool enqueue(Member& member, std::uint32_t limit);
  void dequeue(Member& member);
  /// Makes another thread close an idle connection.
  void ask(const Member& asking);
  /// Wakes another thread that waits, as there may be room. `by` does not need it.
  void offer(const Member& by);

  /// Reserves one of at most `limit` idle connections of all threads. Called only where they are limited.
  bool take_idle(std::uint32_t limit) { return limit != 0 && kept_idle_.take(limit); }
  void give_idle() { kept_idle_.give(); }

  std::uint32_t connections() const { return connections_.value(); }
  /// Returns the idle connections. Takes the lock.
  std::uint32_t idle() const;
  /// Returns the number of waiting requests of all threads.
  std::uint32_t queued() const { return queued_.value(); }

 private:
  BoundedCount connections_;
  BoundedCount queued_;
  BoundedCount kept_idle_;
  mutable std::mutex mutex_;
  std::size_t turn_ = 0;
  std::vector<Member*> members_;
};

}  // namespace edge::runtime
