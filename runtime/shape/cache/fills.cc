#include "runtime/shape/cache/fills.h"

namespace edge::runtime::cache {

std::atomic<std::uint64_t>& Fills::pass_mark(std::string_view id) {
  return pass_until_[fills_.hash_function()(id) % pass_until_.size()];
}

Fills::Joined Fills::join(const std::string& id, std::string_view target, Seconds now, For what,
                          std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Fill>& fill = fills_[id];
  if (fill == nullptr) {
    fill = std::make_shared<Fill>(*this, id, std::string(target));
    return {Role::kLeader, fill, nullptr};
  }
  if (what == For::kBeginning && fill->growing_ != nullptr && !fill->doomed()) {
    return {Role::kReads, fill, fill->growing_};
  }
  const bool passes = pass_mark(id).load(std::memory_order_relaxed) > static_cast<std::uint64_t>(now);
  if (!wake || passes) return {};
  fill->waiting_.push_back(std::move(wake));
  return {Role::kWaits, fill, nullptr};
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
  Wakes waiting;
  {
    const std::lock_guard lock(mutex_);
    if (fill.ended_) return;
    fill.ended_ = true;
    fill.growing_ = nullptr;
    fills_.erase(fill.id_);
    waiting.swap(fill.waiting_);
  }
  for (const auto& wake : waiting) wake();
}

void Fill::publish(std::shared_ptr<const Entry> growing) {
  Fills::Wakes waiting;
  {
    const std::lock_guard lock(fills_.mutex_);
    growing_ = std::move(growing);
    waiting.swap(waiting_);
  }
  for (const auto& wake : waiting) wake();
}

void Fill::progress() {
  Fills::Wakes reading;
  {
    const std::lock_guard lock(fills_.mutex_);
    reading.swap(reading_);
  }
  for (const auto& wake : reading) wake();
}

// Under the lock that `progress` takes after the body has grown, so that no wake is missed.
BodySource::More Fill::await(const Body& body, std::uint64_t at, const std::function<void()>& wake) {
  const std::lock_guard lock(fills_.mutex_);
  if (body.here() > at) return BodySource::More::kHere;
  if (body.state() != Body::State::kGrowing) return BodySource::More::kNever;
  reading_.push_back(wake);
  return BodySource::More::kComes;
}

void Fill::tell_of_readers(std::function<void()> wake) {
  const std::lock_guard lock(fills_.mutex_);
  on_reader_ = std::move(wake);
}

bool Fill::begin_reading() {
  std::function<void()> tell;
  {
    const std::lock_guard lock(fills_.mutex_);
    if (growing_ == nullptr) return false;
    if (readers_.fetch_add(1, std::memory_order_relaxed) == 0) tell = on_reader_;
  }
  if (tell) tell();
  return true;
}

bool Fill::withdraw() {
  const std::lock_guard lock(fills_.mutex_);
  if (!is_read()) growing_ = nullptr;
  return is_read();
}

void Fill::end() { fills_.end(*this); }

void Fill::pass(Seconds now) {
  fills_.pass_mark(id_).store(static_cast<std::uint64_t>(now + Fills::kPassFor), std::memory_order_relaxed);
  end();
}

}  // namespace edge::runtime::cache
