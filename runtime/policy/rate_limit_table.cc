#include "runtime/policy/rate_limit_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <random>

namespace edge::runtime {
namespace {

constexpr std::uint64_t kUnitsPerNanosecond = 16;
/// Nine years. Keeps sums of times within 64 bits.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;

using Word = std::atomic_ref<std::uint64_t>;

std::uint64_t units(net::Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count()) * kUnitsPerNanosecond;
}

net::Duration duration(std::uint64_t units) {
  return net::Duration((units + kUnitsPerNanosecond - 1) / kUnitsPerNanosecond);
}

/// The bits of a tag that say whose bucket it is, and the one that says that it is one.
constexpr std::uint64_t kOwnerMask = 0x1fffe;

std::uint64_t tag_of(std::uint64_t key, std::uint64_t owner) { return (std::rotr(key, 32) & ~kOwnerMask) | owner | 1; }

/// Of a bucket that is full at `before`, after a request of that cost.
std::uint64_t after_request(std::uint64_t before, std::uint64_t now, std::uint64_t cost) {
  return std::max(before, now) + cost;
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Rate::Rate(std::uint64_t requests, std::uint64_t burst, net::Duration period, std::uint16_t owner)
    : burst_(burst), owner_(std::uint64_t{owner} << 1) {
  const std::uint64_t units =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(period.count()) * kUnitsPerNanosecond, kLongest);
  const std::uint64_t rate = std::min(requests, units);
  cost_ = rate == 0 ? kLongest : (units + rate - 1) / rate;
  const auto whole = rate == 0 ? 0 : static_cast<unsigned __int128>(cost_) * burst;
  depth_ = whole > kLongest ? kLongest : static_cast<std::uint64_t>(whole);
}

Rate Rate::part(std::uint32_t parts) const {
  Rate part = *this;
  part.cost_ = cost_ > kLongest / std::max(parts, 1U) ? kLongest : cost_ * std::max(parts, 1U);
  part.depth_ = std::max(depth_, part.cost_);
  return part;
}

void RateLimitTable::Unmap::operator()(Set* sets) const { ::munmap(sets, bytes); }

RateLimitTable::RateLimitTable(std::size_t keys)
    : seed_(random_seed()), mask_(std::bit_ceil(std::max<std::size_t>(keys / kWays, 1)) - 1) {
  const std::size_t bytes = (mask_ + 1) * sizeof(Set);
  // Straight from the system: pages come as they are touched, and come zeroed, which is "free" everywhere.
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  sets_ = {static_cast<Set*>(memory), Unmap{bytes}};
}

RateLimitTable::TakeResult RateLimitTable::take(const Rate& rate, std::uint64_t key, net::Time time) {
  const std::uint64_t now = units(time);
  Set& set = set_of(key);
  const std::uint64_t tag = tag_of(key, rate.owner_);
  TakeResult taken;
  if (take_known(set, tag, rate, now, taken)) return taken;
  const std::lock_guard lock(inserting_[(key >> 8) % kLocks]);
  if (!take_known(set, tag, rate, now, taken)) take_new(set, tag, rate, now, taken);
  return taken;
}

/// \returns whether the key has a bucket.
bool RateLimitTable::take_known(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken) {
  for (std::size_t way = 0; way < kWays; ++way) {
    const Word slot(set.tags[way]);
    if (slot.load(std::memory_order_acquire) != tag) continue;
    const Word full_at(set.full_at[way]);
    std::uint64_t before = full_at.load(std::memory_order_acquire);
    for (;;) {
      // Another key may have been given the place meanwhile. take_new leaves another number then, so that an exchange
      // with the one read before this line fails.
      if (slot.load(std::memory_order_acquire) != tag) break;
      const std::uint64_t after = after_request(before, now, rate.cost_);
      if (after > now + rate.depth_) {
        taken = {false, 0, duration(after - rate.depth_ - now), duration(std::max(before, now) - now)};
        return true;
      }
      if (full_at.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_acquire)) {
        taken = {true, (now + rate.depth_ - after) / rate.cost_, net::Duration(0), duration(after - now)};
        return true;
      }
    }
  }
  return false;
}

/// The way that a new key of the owner gets: a free one; where there is none, the one that was idle longest among its
/// own, if those are many, else among those of whoever has too many, else among all.
std::size_t RateLimitTable::victim(const Set& set, std::uint64_t owner) {
  std::array<std::uint64_t, kWays> tags;
  for (std::size_t way = 0; way < kWays; ++way) {
    tags[way] = Word(const_cast<std::uint64_t&>(set.tags[way])).load(std::memory_order_relaxed);
    if (tags[way] == 0) return way;
  }
  const auto count = [&](std::uint64_t of) {
    return std::ranges::count_if(tags, [&](std::uint64_t tag) { return (tag & kOwnerMask) == of; });
  };
  const bool own_only = count(owner) >= kMostWays;
  const auto crowds = [&](std::uint64_t tag) { return count(tag & kOwnerMask) > kMostWays; };
  const bool crowded = !own_only && std::ranges::any_of(tags, crowds);
  std::size_t oldest = 0;
  std::uint64_t oldest_time = ~std::uint64_t{0};
  for (std::size_t way = 0; way < kWays; ++way) {
    if (own_only && (tags[way] & kOwnerMask) != owner) continue;
    if (crowded && !crowds(tags[way])) continue;
    const std::uint64_t time = Word(const_cast<std::uint64_t&>(set.full_at[way])).load(std::memory_order_relaxed);
    if (time >= oldest_time) continue;
    oldest = way;
    oldest_time = time;
  }
  return oldest;
}

RateLimitTable::TakeResult RateLimitTable::look(const Rate& rate, std::uint64_t key, net::Time time) {
  const std::uint64_t now = units(time);
  Set& set = set_of(key);
  const std::uint64_t tag = tag_of(key, rate.owner_);
  std::uint64_t before = now;
  for (std::size_t way = 0; way < kWays; ++way) {
    if (Word(set.tags[way]).load(std::memory_order_acquire) != tag) continue;
    before = std::max(now, Word(set.full_at[way]).load(std::memory_order_acquire));
    break;
  }
  const std::uint64_t after = before + rate.cost_;
  if (after > now + rate.depth_) {
    return {false, 0, duration(after - std::min(after, now + rate.depth_)), duration(before - now)};
  }
  return {true, (now + rate.depth_ - after) / rate.cost_, net::Duration(0), duration(after - now)};
}

void RateLimitTable::give_back(const Rate& rate, std::uint64_t key) {
  Set& set = set_of(key);
  const std::uint64_t tag = tag_of(key, rate.owner_);
  for (std::size_t way = 0; way < kWays; ++way) {
    const Word slot(set.tags[way]);
    if (slot.load(std::memory_order_acquire) != tag) continue;
    const Word full_at(set.full_at[way]);
    std::uint64_t before = full_at.load(std::memory_order_acquire);
    while (slot.load(std::memory_order_acquire) == tag && before > rate.cost_) {
      if (full_at.compare_exchange_weak(before, before - rate.cost_, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
        return;
      }
    }
    return;
  }
}

void RateLimitTable::take_new(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken) {
  if (rate.cost_ > rate.depth_) {
    taken = {false, 0, duration(rate.cost_), net::Duration(0)};
    return;
  }
  put_new(set, tag, rate, now + rate.cost_);
  taken = {true, rate.burst_ - 1, net::Duration(0), duration(rate.cost_)};
}

void RateLimitTable::put_new(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t after) {
  const std::size_t oldest = victim(set, rate.owner_);
  const Word full_at(set.full_at[oldest]);
  const Word slot(set.tags[oldest]);
  slot.store(0, std::memory_order_release);
  // Whoever still counts for the key that goes compares with the old number and must not meet an equal one.
  if (after == full_at.load(std::memory_order_relaxed)) ++after;
  full_at.store(after, std::memory_order_release);
  slot.store(tag, std::memory_order_release);
}

void RateLimitTable::charge(const Rate& rate, std::uint64_t key, std::uint64_t requests, std::uint32_t agents,
                            net::Duration unseen, net::Time time) {
  const std::uint64_t now = units(time);
  const auto refilled = static_cast<unsigned __int128>(unseen.count()) * kUnitsPerNanosecond;
  const auto most = now + (rate.depth_ + refilled) * agents;
  const auto after = [&](std::uint64_t before) {
    const auto charged =
        static_cast<unsigned __int128>(std::max(before, now)) + static_cast<unsigned __int128>(rate.cost_) * requests;
    // A bucket that owes more already, as one of another number of agents may, is not relieved.
    const auto bounded = std::max<unsigned __int128>(std::min(charged, most), before);
    return static_cast<std::uint64_t>(std::min<unsigned __int128>(bounded, now + 2 * kLongest));
  };
  Set& set = set_of(key);
  const std::uint64_t tag = tag_of(key, rate.owner_);
  const std::lock_guard lock(inserting_[(key >> 8) % kLocks]);
  for (std::size_t way = 0; way < kWays; ++way) {
    if (Word(set.tags[way]).load(std::memory_order_acquire) != tag) continue;
    const Word full_at(set.full_at[way]);
    std::uint64_t before = full_at.load(std::memory_order_acquire);
    // Under the lock no key replaces another.
    while (
        !full_at.compare_exchange_weak(before, after(before), std::memory_order_acq_rel, std::memory_order_acquire)) {
    }
    return;
  }
  put_new(set, tag, rate, after(0));
}

}  // namespace edge::runtime
