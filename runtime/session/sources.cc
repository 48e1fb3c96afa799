#include "runtime/session/sources.h"

namespace edge::runtime {
namespace {

/// Bytes of an address of IPv6 that name a network.
constexpr std::size_t kNetworkBytes = 8;

std::string key_of(std::uint32_t slot, const IpAddress& source) {
  const std::size_t size = source.is_v4() ? source.bytes.size() : kNetworkBytes;
  std::string key(reinterpret_cast<const char*>(&slot), sizeof slot);
  return key.append(reinterpret_cast<const char*>(source.bytes.data()), size);
}

}  // namespace

std::optional<Sources::Part> Sources::admit(std::uint32_t slot, const IpAddress& source, std::uint32_t most) {
  std::string key = key_of(slot, source);
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  std::unique_ptr<Counts>& counts = shard.table[key];
  if (counts == nullptr) counts.reset(new Counts{*this, std::move(key)});
  if (counts->connections >= most) return std::nullopt;
  ++counts->connections;
  Part part;
  part.counts_ = counts.get();
  return part;
}

void Sources::give(Counts& counts) {
  Shard& shard = shard_of(counts.key);
  const std::lock_guard lock(shard.mutex);
  if (--counts.connections == 0) shard.table.erase(shard.table.find(counts.key));
}

bool Sources::Part::take(std::size_t streams, std::uint32_t most) {
  const auto more = static_cast<std::uint32_t>(streams - streams_);
  const std::uint32_t before = counts_->streams.fetch_add(more, std::memory_order_relaxed);
  if (before + more > most) {
    counts_->streams.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  streams_ += more;
  return true;
}

void Sources::Part::give_streams() {
  counts_->streams.fetch_sub(std::exchange(streams_, 0), std::memory_order_relaxed);
}

void Sources::Part::give_back() {
  if (counts_ == nullptr) return;
  rest();
  Counts& counts = *std::exchange(counts_, nullptr);
  counts.sources.give(counts);
}

}  // namespace edge::runtime
