#include "net/tls/tickets.h"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/rand.h>

namespace edge::net::tls {
namespace {

bool fill(std::span<std::uint8_t> bytes) { return RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1; }

const Clock& steady_clock() {
  static const Clock clock;
  return clock;
}

}  // namespace

TicketKeys::TicketKeys(const Clock* clock) : clock_(clock != nullptr ? clock : &steady_clock()) {}

TicketKeys::~TicketKeys() { OPENSSL_cleanse(keys_.data(), sizeof(keys_)); }

std::optional<TicketKey> TicketKeys::current() {
  const std::lock_guard lock(mutex_);
  rotate(clock_->now());
  if (count_ == 0) return std::nullopt;
  return keys_.front();
}

std::optional<TicketKeys::Found> TicketKeys::find(std::span<const std::uint8_t> name) {
  const std::lock_guard lock(mutex_);
  rotate(clock_->now());
  for (std::size_t i = 0; i < count_; ++i) {
    if (std::ranges::equal(keys_[i].name, name)) return Found{keys_[i], i == 0};
  }
  return std::nullopt;
}

// After a long rest as many keys are forgotten as would have been, had somebody come by each hour.
void TicketKeys::rotate(Time now) {
  if (count_ != 0 && now - made_ < kRotation) return;
  if (count_ != 0 && now - made_ >= (kKept - 1) * kRotation) count_ = now - made_ >= kKept * kRotation ? 0 : 1;
  TicketKey fresh;
  if (!fill(fresh.name) || !fill(fresh.aes) || !fill(fresh.mac)) return;
  std::move_backward(keys_.begin(), keys_.end() - 1, keys_.end());
  keys_.front() = fresh;
  OPENSSL_cleanse(&fresh, sizeof(fresh));
  count_ = std::min(count_ + 1, kKept);
  made_ = now;
}

}  // namespace edge::net::tls
