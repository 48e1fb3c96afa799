#include "agent/sampler.h"

#include <algorithm>
#include <utility>

#include "metrics/last_hour.h"

namespace edge::agent {
namespace {

constexpr auto kBetween = std::chrono::seconds(1);
/// Of a core's time, that looking takes at most.
constexpr int kShare = 100;
constexpr auto kFirstRecheck = std::chrono::milliseconds(100);
/// Also how soon is told that an address has come, or has gone.
constexpr auto kLongestRecheck = std::chrono::seconds(10);

}  // namespace

Sampler::Sampler(SamplerTasks tasks)
    : tasks_(std::move(tasks)),
      next_look_(Clock::now() + kBetween),
      next_record_(Clock::now() + metrics::LastHour::kStep),
      next_recheck_(Clock::now() + kLongestRecheck),
      pause_(kLongestRecheck),
      thread_([this] { run(); }) {}

Sampler::~Sampler() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Sampler::recheck_soon() {
  {
    const std::lock_guard lock(mutex_);
    soon_ = true;
  }
  changed_.notify_all();
}

void Sampler::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const Clock::time_point next = std::min({next_look_, next_record_, next_recheck_});
    changed_.wait_until(lock, next, [this] { return stopping_ || soon_; });
    if (stopping_) return;
    const bool soon = std::exchange(soon_, false);
    lock.unlock();
    const Clock::time_point began = Clock::now();
    if (soon) {
      pause_ = kFirstRecheck;
      next_recheck_ = began + pause_;
    }
    if (began >= next_record_) {
      tasks_.record();
      next_record_ = began + metrics::LastHour::kStep;
    }
    if (began >= next_recheck_) recheck();
    if (began >= next_look_) look(Clock::now());
    lock.lock();
  }
}

void Sampler::recheck() {
  const bool left = tasks_.recheck();
  pause_ = left ? std::min<Clock::duration>(pause_ * 2, kLongestRecheck) : kLongestRecheck;
  next_recheck_ = Clock::now() + pause_;
}

void Sampler::look(Clock::time_point began) {
  tasks_.look();
  const Clock::time_point ended = Clock::now();
  next_look_ = ended + std::max<Clock::duration>(kBetween, (ended - began) * kShare);
}

}  // namespace edge::agent
