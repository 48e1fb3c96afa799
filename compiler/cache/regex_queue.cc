#include "compiler/cache/regex_queue.h"

#include <algorithm>

namespace edge::compiler {

RegexQueue::~RegexQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void RegexQueue::ask(std::uint64_t set_id, std::vector<std::string> patterns) {
  const std::lock_guard lock(mutex_);
  if (under_way_ == set_id || std::ranges::find(waiting_, set_id, &Asked::set_id) != waiting_.end()) return;
  asked_ += patterns.size();
  waiting_.push_back({set_id, std::move(patterns)});
  if (running_) return;
  // One that is joined here has nothing more to do but to end.
  if (thread_.joinable()) thread_.join();
  running_ = true;
  thread_ = std::thread([this] { run(); });
}

void RegexQueue::keep(const std::set<std::uint64_t>& set_ids) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Asked& asked) {
    if (set_ids.contains(asked.set_id)) return false;
    asked_ -= asked.patterns.size();
    return true;
  });
}

RegexQueue::Taken RegexQueue::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(taken_, {});
}

void RegexQueue::run() {
  std::optional<DiskCache> kept;
  if (!options_.cache_dir.empty()) {
    if (auto opened = DiskCache::open(options_.cache_dir, options_.cache_bytes)) kept = std::move(*opened);
  }
  RegexMaker maker(options_.worker, kept ? &*kept : nullptr);
  std::unique_lock lock(mutex_);
  while (!waiting_.empty() && !stopping_) {
    const Asked next = std::move(waiting_.front());
    waiting_.pop_front();
    under_way_ = next.set_id;
    lock.unlock();
    auto made = maker.make(next.set_id, next.patterns);
    lock.lock();
    under_way_.reset();
    made_ += next.patterns.size();
    if (made) {
      taken_.made.insert_or_assign(next.set_id, std::move(*made));
    } else {
      taken_.fault = made.error();
      waiting_.clear();
    }
    const DatabaseProgress progress{made_, asked_, waiting_.empty()};
    if (progress.ended) made_ = asked_ = 0;
    if (!options_.progressed || stopping_) continue;
    lock.unlock();
    options_.progressed(progress);
    lock.lock();
  }
  running_ = false;
}

}  // namespace edge::compiler
