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
constexpr std::uint64_t kUnitsPerSecond = kUnitsPerNanosecond * 1'000'000'000;
/// Nine years. Keeps sums of times within 64 bits.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;

using Word = std::atomic_ref<std::uint64_t>;

std::uint64_t units(net::Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count()) * kUnitsPerNanosecond;
}

net::Duration duration(std::uint64_t units) {
  return net::Duration((units + kUnitsPerNanosecond - 1) / kUnitsPerNanosecond);
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Rate::Rate(std::uint64_t requests_per_second, std::uint64_t burst) : burst_(burst) {
  const std::uint64_t rate = std::min(requests_per_second, kUnitsPerSecond);
  cost_ = rate == 0 ? kLongest : (kUnitsPerSecond + rate - 1) / rate;
  const auto whole = rate == 0 ? 0 : static_cast<unsigned __int128>(cost_) * burst;
  depth_ = whole > kLongest ? kLongest : static_cast<std::uint64_t>(whole);
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
  Set& set = sets_[(key >> 8) & mask_];
  const std::uint64_t tag = std::rotr(key, 32) | 1;
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
      const std::uint64_t after = std::max(before, now) + rate.cost_;
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

void RateLimitTable::take_new(Set& set, std::uint64_t tag, const Rate& rate, std::uint64_t now, TakeResult& taken) {
  if (rate.cost_ > rate.depth_) {
    taken = {false, 0, duration(rate.cost_), net::Duration(0)};
    return;
  }
  std::size_t oldest = 0;
  std::uint64_t oldest_time = ~std::uint64_t{0};
  for (std::size_t way = 0; way < kWays; ++way) {
    const bool free = Word(set.tags[way]).load(std::memory_order_relaxed) == 0;
    const std::uint64_t time = free ? 0 : Word(set.full_at[way]).load(std::memory_order_relaxed);
    if (time >= oldest_time) continue;
    oldest = way;
    oldest_time = time;
  }
  const Word full_at(set.full_at[oldest]);
  const Word slot(set.tags[oldest]);
  slot.store(0, std::memory_order_release);
  std::uint64_t after = now + rate.cost_;
  // Whoever still counts for the key that goes compares with the old number and must not meet an equal one.
  if (after == full_at.load(std::memory_order_relaxed)) ++after;
  full_at.store(after, std::memory_order_release);
  slot.store(tag, std::memory_order_release);
  taken = {true, rate.burst_ - 1, net::Duration(0), duration(rate.cost_)};
}

}  // namespace edge::runtime
