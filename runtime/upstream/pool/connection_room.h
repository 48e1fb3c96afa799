// Room for connections to one backend: how many the process has, and how many requests wait for one. Exact over all
// threads. A thread that needs room has the others give up a connection that they do not use; a thread that frees some
// tells one that waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "net/counter.h"

namespace edge::runtime {

/// A number that never exceeds a limit, whoever counts.
class BoundedCount {
 public:
  /// `limit` 0: none.
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
  /// The connections of one thread. Called under the room's lock from any thread: it may only post to its own.
  class Member {
   public:
    virtual void room_wanted() = 0;
    virtual void room_free() = 0;

   protected:
    ~Member() = default;
    /// Connections that wait for a request.
    net::Counter idle_;

   private:
    friend class ConnectionRoom;
    std::uint32_t queued_ = 0;  // guarded by the room's mutex
  };

  void join(Member& member);
  void leave(Member& member);

  /// Room for one connection. Cost: one compare and exchange.
  bool take(std::uint32_t limit) { return connections_.take(limit); }
  /// The connection is gone. The caller wakes a request of its own, or calls `offer`.
  void give() { connections_.give(); }

  /// A place in the queue. After it `take` must be tried once more: room may have been freed in between.
  bool enqueue(Member& member, std::uint32_t limit);
  void dequeue(Member& member);
  /// Has the other threads give up a connection that they do not use.
  void ask(const Member& asking);
  /// Tells another thread that waits that there may be room. `by` has no use for it.
  void offer(const Member& by);

  /// A place among the unused connections of all threads, at most `limit`. Asked for where that is bounded alone.
  bool take_idle(std::uint32_t limit) { return limit != 0 && kept_idle_.take(limit); }
  void give_idle() { kept_idle_.give(); }

  std::uint32_t connections() const { return connections_.value(); }
  /// Of these, those that wait for a request. Takes the lock.
  std::uint32_t idle() const;
  /// Requests that wait, of all threads.
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
