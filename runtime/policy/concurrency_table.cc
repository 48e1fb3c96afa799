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
  count_ = std::exchange(other.count_, 0);
  keys_ = other.keys_;
  return *this;
}

bool ConcurrencyPermit::enter(std::uint64_t key, std::uint64_t most) {
  if (count_ == keys_.size() || !table_->enter(key, most)) return false;
  keys_[count_++] = key;
  return true;
}

void ConcurrencyPermit::join(ConcurrencyPermit other) {
  table_ = other.table_;
  for (; other.count_ != 0 && count_ != keys_.size(); --other.count_) keys_[count_++] = other.keys_[other.count_ - 1];
}

void ConcurrencyPermit::release() {
  for (; count_ != 0; --count_) table_->leave(keys_[count_ - 1]);
}

}  // namespace edge::runtime
