#include "runtime/shape/cache/fills.h"

#include "base/hash.h"

namespace edge::runtime::cache {

std::atomic<std::uint64_t>& Fills::pass_mark(std::string_view id) {
  return pass_until_[hash_bytes(0, id) % pass_until_.size()];
}

Fills::Joined Fills::join(const std::string& id, std::string_view target, Seconds now, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Fill>& fill = fills_[id];
  if (fill == nullptr) {
    fill = std::make_shared<Fill>(*this, id, std::string(target));
    return {Role::kLeader, fill};
  }
  const bool passes = pass_mark(id).load(std::memory_order_relaxed) > static_cast<std::uint64_t>(now);
  if (!wake || passes) return {};
  fill->waiting_.push_back(std::move(wake));
  return {Role::kWaits, fill};
}

void Fills::doom(std::string_view target) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, fill] : fills_) {
    if (target.empty() || fill->target_ == target) fill->doomed_.store(true, std::memory_order_release);
  }
}

std::size_t Fills::size() const {
  const std::lock_guard lock(mutex_);
  return fills_.size();
}

void Fills::end(Fill& fill) {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (fill.ended_) return;
    fill.ended_ = true;
    fills_.erase(fill.id_);
    waiting.swap(fill.waiting_);
  }
  for (const auto& wake : waiting) wake();
}

void Fill::end() { fills_.end(*this); }

void Fill::pass(Seconds now) {
  fills_.pass_mark(id_).store(static_cast<std::uint64_t>(now + Fills::kPassFor), std::memory_order_relaxed);
  end();
}

}  // namespace edge::runtime::cache
