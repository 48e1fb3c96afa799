#include "controller/agents_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace edge::controller {
namespace {

using namespace std::chrono_literals;

/// Agents answer one after the other: what they say within so long is looked at together.
constexpr auto kGatherAgents = 20ms;
/// A controller that knows no cluster by then gives out what it gave out last.
constexpr auto kPatience = 5s;

}  // namespace

void AgentsWatch::start() {
  thread_ = std::thread([this] { run(); });
}

void AgentsWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void AgentsWatch::changed() {
  {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  wake_.notify_all();
}

void AgentsWatch::group_came(const std::string& group) {
  {
    const std::lock_guard lock(mutex_);
    groups_came_.push_back(group);
    changed_ = true;
  }
  wake_.notify_all();
}

void AgentsWatch::run() {
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  bool waited = false;
  std::chrono::steady_clock::duration gather = kGatherAgents;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto something = [this] { return stopping_ || changed_; };
    if (waited) {
      wake_.wait(lock, something);
    } else if (!wake_.wait_until(lock, patience, something) || std::chrono::steady_clock::now() >= patience) {
      waited = true;
      lock.unlock();
      events_.patience_over();
      lock.lock();
      continue;
    }
    wake_.wait_for(lock, gather, [this] { return stopping_; });
    if (stopping_) return;
    changed_ = false;
    const std::vector<std::string> came = std::exchange(groups_came_, {});
    lock.unlock();
    const auto began = std::chrono::steady_clock::now();
    // Of many agents with many backends a look costs: at most a third of the time goes into it.
    if (events_.look(came)) {
      gather =
          std::max<std::chrono::steady_clock::duration>(kGatherAgents, 2 * (std::chrono::steady_clock::now() - began));
    }
    lock.lock();
  }
}

}  // namespace edge::controller
