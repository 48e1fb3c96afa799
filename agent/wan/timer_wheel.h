// Many timers of milliseconds: what is due is found without looking at the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "agent/wan/change_detector.h"

namespace edge::agent::wan {

/// Entries are due within a millisecond after their time. Those further away than a turn go round.
template <typename Entry>
class TimerWheel {
 public:
  explicit TimerWheel(Time now) : done_(tick(now)) {}

  void add(Time due, Entry entry) {
    const std::int64_t at = std::max(tick(due), done_ + 1);
    slots_[static_cast<std::size_t>(at) % kSlots].push_back({at, std::move(entry)});
    ++size_;
  }

  /// Returns what is due, and forgets it.
  std::vector<Entry> take(Time now) {
    std::vector<Entry> due;
    const std::int64_t until = tick(now);
    // After a long pause one turn has everything.
    for (std::int64_t at = std::max(done_ + 1, until - static_cast<std::int64_t>(kSlots) + 1); at <= until; ++at) {
      auto& slot = slots_[static_cast<std::size_t>(at) % kSlots];
      const auto later = std::ranges::partition(slot, [&](const auto& one) { return one.first > until; });
      for (auto& one : later) due.push_back(std::move(one.second));
      size_ -= later.size();
      slot.erase(later.begin(), later.end());
    }
    done_ = std::max(done_, until);
    return due;
  }

  /// Returns when to call `take` next: not before anything is due, and at most `most` from `now`.
  Time next(Time now, Time most) const {
    const std::int64_t last = tick(now + most);
    for (std::int64_t at = done_ + 1; size_ > 0 && at <= last && at <= done_ + static_cast<std::int64_t>(kSlots);
         ++at) {
      for (const auto& [due, entry] : slots_[static_cast<std::size_t>(at) % kSlots]) {
        if (due == at) return Time(std::chrono::milliseconds(at));
      }
    }
    return now + most;
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  static std::int64_t tick(Time time) { return std::chrono::ceil<std::chrono::milliseconds>(time).count(); }

  std::array<std::vector<std::pair<std::int64_t, Entry>>, kSlots> slots_;
  std::int64_t done_;
  std::size_t size_ = 0;
};

}  // namespace edge::agent::wan
