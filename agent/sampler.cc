#include "agent/sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "metrics/last_hour.h"

namespace edge::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::duration kBetween = std::chrono::seconds(1);
/// Of a core's time, that looking takes at most.
constexpr int kShare = 100;

}  // namespace

Sampler::Sampler(std::function<void()> look, std::function<void()> record)
    : look_(std::move(look)), record_(std::move(record)) {
  thread_ = std::thread([this] { run(); });
}

Sampler::~Sampler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Sampler::run() {
  Clock::time_point next_look = Clock::now() + kBetween;
  Clock::time_point next_record = Clock::now() + metrics::LastHour::kStep;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (changed_.wait_until(lock, std::min(next_look, next_record), [this] { return stopping_; })) return;
    lock.unlock();
    const Clock::time_point began = Clock::now();
    if (began >= next_record) {
      record_();
      next_record = began + metrics::LastHour::kStep;
    }
    const Clock::time_point looks = Clock::now();
    if (looks >= next_look) {
      look_();
      const Clock::time_point ended = Clock::now();
      next_look = ended + std::max<Clock::duration>(kBetween, (ended - looks) * kShare);
    }
    lock.lock();
  }
}

}  // namespace edge::agent
