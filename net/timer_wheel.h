// Timers of one thread: four wheels of 64 slots, 4 ms per tick.
//
// Nodes are lazy. Postponing or cancelling a deadline only stores a number; the node stays linked and is moved when its
// slot is processed. A deadline that a request sets and cancels costs a few instructions.
#pragma once

#include <array>
#include <cstdint>

#include "net/clock.h"

namespace edge::net {

struct TimerLink {
  TimerLink* previous = nullptr;
  TimerLink* next = nullptr;
};

class TimerWheel;

/// Base of timers; unlinks itself when destroyed.
class TimerNode : private TimerLink {
 public:
  TimerNode() = default;
  TimerNode(const TimerNode&) = delete;
  TimerNode& operator=(const TimerNode&) = delete;

 protected:
  virtual ~TimerNode();
  /// Called when the deadline has passed. The node may be set again, or destroyed, from here.
  virtual void expired() = 0;

 private:
  friend class TimerWheel;
  static constexpr std::uint64_t kNoTick = ~std::uint64_t{0};
  std::uint64_t due_ = kNoTick;     // when it expires
  std::uint64_t linked_ = kNoTick;  // when its slot is processed, at the latest
};

class TimerWheel {
 public:
  static constexpr Duration kTick = std::chrono::milliseconds(4);

  explicit TimerWheel(Time now);

  /// Expires at the first tick at or after `deadline`, at the earliest one tick from now. kNever cancels it.
  void set(TimerNode& node, Time deadline);
  void drop(TimerNode& node) { node.due_ = TimerNode::kNoTick; }

  /// Calls expired() for all due nodes.
  void advance(Time now);
  /// Returns when `advance` must be called next, kNever when nothing is linked.
  Time next() const;

 private:
  static constexpr unsigned kLevels = 4;
  static constexpr unsigned kBits = 6;
  static constexpr std::uint64_t kSlots = 1 << kBits;

  std::uint64_t next_tick() const;
  void link(TimerNode& node, std::uint64_t due);
  void process(std::uint64_t tick);
  void empty_slot(unsigned level, std::uint64_t slot);

  Time epoch_;
  std::uint64_t tick_ = 0;
  std::array<std::uint64_t, kLevels> masks_{};
  std::array<std::array<TimerLink, kSlots>, kLevels> slots_;
};

}  // namespace edge::net
