#include "runtime/policy/auth/wait_list.h"

#include <algorithm>
#include <utility>

namespace edge::runtime::auth {

struct WaitList::Entry {
  net::Loop* loop;
  /// Null once it has left. Touched on the loop's thread alone.
  net::Waiter* waiter;
};

std::shared_ptr<WaitList::Entry> WaitList::enter(net::Loop& loop, net::Waiter& waiter) {
  const std::scoped_lock lock(mutex_);
  if (entries_.size() == most_) return nullptr;
  entries_.push_back(std::make_shared<Entry>(&loop, &waiter));
  return entries_.back();
}

void WaitList::leave(const std::shared_ptr<Entry>& entry) {
  entry->waiter = nullptr;
  const std::scoped_lock lock(mutex_);
  std::erase(entries_, entry);
}

bool WaitList::empty() {
  const std::scoped_lock lock(mutex_);
  return entries_.empty();
}

void WaitList::wake_all() {
  // Posted under the lock: a loop outlives those who wait on it, and who leaves comes past the lock.
  const std::scoped_lock lock(mutex_);
  for (std::shared_ptr<Entry>& entry : entries_) {
    net::Loop& loop = *entry->loop;
    loop.post([entry = std::move(entry)] {
      if (entry->waiter != nullptr) entry->waiter->wake(net::Wake::kReady);
    });
  }
  entries_.clear();
}

}  // namespace edge::runtime::auth
