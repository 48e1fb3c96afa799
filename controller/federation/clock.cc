#include "controller/federation/clock.h"

#include <algorithm>

namespace edge::federation {

bool contains(const Ranges& ranges, std::uint64_t counter) {
  return std::ranges::any_of(ranges, [&](const Range& r) { return r.first <= counter && counter <= r.last; });
}

void add(Ranges& ranges, Range range) {
  Ranges out;
  out.reserve(ranges.size() + 1);
  for (const Range& have : ranges) {
    const bool before = have.last + 1 < range.first;
    const bool after = range.last + 1 < have.first;
    if (before || after) {
      out.push_back(have);
    } else {
      range = {std::min(range.first, have.first), std::max(range.last, have.last)};
    }
  }
  out.insert(std::ranges::upper_bound(out, range.first, {}, &Range::first), range);
  ranges = std::move(out);
}

Ranges without(const Ranges& ranges, const Ranges& others) {
  Ranges out;
  for (Range range : ranges) {
    bool rest = true;
    for (const Range& other : others) {
      if (other.last < range.first || range.last < other.first) continue;
      if (range.first < other.first) out.push_back({range.first, other.first - 1});
      if (other.last >= range.last) {
        rest = false;
        break;
      }
      range.first = other.last + 1;
    }
    if (rest) out.push_back(range);
  }
  return out;
}

bool Past::contains(const Dot& dot) const { return federation::contains(of(dot.replica), dot.counter); }

void Past::add(const Dot& dot) { add(dot.replica, {dot.counter, dot.counter}); }

void Past::add(const Past& other) {
  for (const auto& [replica, ranges] : other.entries_) {
    for (const Range& range : ranges) add(replica, range);
  }
}

void Past::add(const ReplicaId& replica, Range range) { federation::add(entries_[replica], range); }

const Ranges& Past::of(const ReplicaId& replica) const {
  static const Ranges kNone;
  const auto found = entries_.find(replica);
  return found == entries_.end() ? kNone : found->second;
}

void Past::trim(const ReplicaId& own) {
  for (auto& [replica, ranges] : entries_) {
    if (ranges.size() > kMostRanges) {
      ranges.erase(ranges.begin(), ranges.end() - static_cast<std::ptrdiff_t>(kMostRanges));
    }
  }
  while (entries_.size() > kMostReplicas) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->first == own) continue;
      if (oldest == entries_.end() || entry->first.incarnation < oldest->first.incarnation) oldest = entry;
    }
    entries_.erase(oldest);
  }
}

bool Past::within_bounds() const {
  return entries_.size() <= kMostReplicas &&
         std::ranges::all_of(entries_, [](const auto& entry) { return entry.second.size() <= kMostRanges; });
}

HybridTime HybridClock::tick(std::int64_t milliseconds) {
  // A clock before 1970 or far in the future counts on from the last time.
  const std::int64_t sane = std::clamp<std::int64_t>(milliseconds, 0, milliseconds_of(kLatestTime) - 1);
  last_ = std::max(last_ + 1, static_cast<HybridTime>(sane) << 16);
  return last_;
}

void HybridClock::observe(HybridTime time) { last_ = std::max(last_, time); }

std::int64_t milliseconds_of(HybridTime time) { return static_cast<std::int64_t>(time >> 16); }

}  // namespace edge::federation
