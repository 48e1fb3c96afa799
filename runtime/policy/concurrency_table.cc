#include "runtime/policy/concurrency_table.h"

#include <random>

namespace edge::runtime {

ConcurrencyTable::ConcurrencyTable() {
  std::random_device device;
  seed_ = std::uint64_t{device()} << 32 | device();
}

bool ConcurrencyTable::enter(std::uint64_t key, std::uint64_t most) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  if (most == 0) return false;
  std::uint64_t& count = shard.counts[key];
  if (count >= most) return false;
  ++count;
  return true;
}

void ConcurrencyTable::leave(std::uint64_t key) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto entry = shard.counts.find(key);
  if (--entry->second == 0) shard.counts.erase(entry);
}

std::size_t ConcurrencyTable::keys() const {
  std::size_t sum = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.counts.size();
  }
  return sum;
}

ConcurrencyPermit& ConcurrencyPermit::operator=(ConcurrencyPermit&& other) noexcept {
  if (this == &other) return *this;
  release();
  table_ = std::exchange(other.table_, nullptr);
  keys_ = std::exchange(other.keys_, {});
  return *this;
}

bool ConcurrencyPermit::enter(std::uint64_t key, std::uint64_t most) {
  // Room for it first: a place that is taken is always written down.
  keys_.push_back(key);
  if (table_->enter(key, most)) return true;
  keys_.pop_back();
  return false;
}

void ConcurrencyPermit::join(ConcurrencyPermit other) {
  keys_.reserve(keys_.size() + other.keys_.size());
  table_ = other.table_;
  keys_.insert(keys_.end(), other.keys_.begin(), other.keys_.end());
  other.keys_.clear();
}

void ConcurrencyPermit::release() {
  for (const std::uint64_t key : keys_) table_->leave(key);
  keys_.clear();
}

}  // namespace edge::runtime
