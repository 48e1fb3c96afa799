#include "net/timer_wheel.h"

#include <algorithm>
#include <bit>

namespace edge::net {
namespace {

void unlink(TimerLink& link) {
  link.previous->next = link.next;
  link.next->previous = link.previous;
  link.previous = link.next = nullptr;
}

}  // namespace

TimerNode::~TimerNode() {
  if (next != nullptr) unlink(*this);
}

TimerWheel::TimerWheel(Time now) : epoch_(now) {
  for (auto& level : slots_) {
    for (TimerLink& slot : level) slot.previous = slot.next = &slot;
  }
}

void TimerWheel::set(TimerNode& node, Time deadline) {
  if (deadline == kNever) {
    drop(node);
    return;
  }
  const Duration ahead = std::max(deadline - epoch_, Duration(0));
  const auto due = std::max(static_cast<std::uint64_t>((ahead + kTick - Duration(1)) / kTick), tick_ + 1);
  node.due_ = due;
  if (node.next != nullptr) {
    if (node.linked_ <= due) return;
    unlink(node);
  }
  link(node, due);
}

void TimerWheel::link(TimerNode& node, std::uint64_t due) {
  constexpr std::uint64_t kRange = std::uint64_t{1} << (kBits * kLevels);
  due = std::min(due, tick_ + kRange - 1);
  node.linked_ = due;
  const std::uint64_t delta = due - tick_;
  const unsigned level = delta < kSlots ? 0 : static_cast<unsigned>(std::bit_width(delta) - 1) / kBits;
  const std::uint64_t slot = (due >> (level * kBits)) % kSlots;
  TimerLink& head = slots_[level][slot];
  node.previous = head.previous;
  node.next = &head;
  head.previous->next = &node;
  head.previous = &node;
  masks_[level] |= std::uint64_t{1} << slot;
}

std::uint64_t TimerWheel::next_tick() const {
  std::uint64_t nearest = TimerNode::kNoTick;
  for (unsigned level = 0; level < kLevels; ++level) {
    if (masks_[level] == 0) continue;
    const std::uint64_t after = (tick_ >> (level * kBits)) + 1;
    const auto turns = std::countr_zero(std::rotr(masks_[level], static_cast<int>(after % kSlots)));
    nearest = std::min(nearest, (after + static_cast<std::uint64_t>(turns)) << (level * kBits));
  }
  return nearest;
}

Time TimerWheel::next() const {
  const std::uint64_t tick = next_tick();
  return tick == TimerNode::kNoTick ? kNever : epoch_ + kTick * static_cast<std::int64_t>(tick);
}

void TimerWheel::advance(Time now) {
  const auto target = static_cast<std::uint64_t>(std::max(now - epoch_, Duration(0)) / kTick);
  while (tick_ < target) {
    const std::uint64_t tick = next_tick();
    if (tick > target) {
      tick_ = target;
      return;
    }
    process(tick);
  }
}

void TimerWheel::process(std::uint64_t tick) {
  tick_ = tick;
  // Coarse levels first: what falls due at this very tick goes to the slot that is emptied last.
  for (unsigned level = kLevels; level-- > 0;) {
    const unsigned shift = level * kBits;
    if (((tick >> shift) << shift) == tick) empty_slot(level, (tick >> shift) % kSlots);
  }
}

void TimerWheel::empty_slot(unsigned level, std::uint64_t slot) {
  const std::uint64_t bit = std::uint64_t{1} << slot;
  if ((masks_[level] & bit) == 0) return;
  masks_[level] &= ~bit;
  TimerLink& head = slots_[level][slot];
  if (head.next == &head) return;
  // Moved to a list of our own, because expired() may link nodes here or unlink any of these.
  TimerLink taken{head.previous, head.next};
  taken.previous->next = &taken;
  taken.next->previous = &taken;
  head.previous = head.next = &head;
  while (taken.next != &taken) {
    auto& node = static_cast<TimerNode&>(*taken.next);
    unlink(node);
    if (node.due_ == TimerNode::kNoTick) continue;
    if (node.due_ > tick_ || level > 0) {
      link(node, std::max(node.due_, tick_));
    } else {
      node.due_ = TimerNode::kNoTick;
      node.expired();
    }
  }
}

}  // namespace edge::net
