#include "runtime/upstream/pool/connection_room.h"

#include <algorithm>

namespace edge::runtime {

void ConnectionRoom::join(Member& member) {
  const std::lock_guard lock(mutex_);
  members_.push_back(&member);
}

void ConnectionRoom::leave(Member& member) {
  const std::lock_guard lock(mutex_);
  std::erase(members_, &member);
}

std::uint32_t ConnectionRoom::idle() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const Member* member : members_) sum += member->idle_.value();
  return static_cast<std::uint32_t>(sum);
}

bool ConnectionRoom::enqueue(Member& member, std::uint32_t limit) {
  // A queue without places is one that nobody waits in, not one without a bound.
  if (limit == 0 || !queued_.take(limit)) return false;
  const std::lock_guard lock(mutex_);
  ++member.queued_;
  return true;
}

void ConnectionRoom::dequeue(Member& member) {
  queued_.give();
  const std::lock_guard lock(mutex_);
  --member.queued_;
}

void ConnectionRoom::ask(const Member& asking) {
  const std::lock_guard lock(mutex_);
  for (Member* member : members_) {
    if (member != &asking) member->room_wanted();
  }
}

void ConnectionRoom::offer(const Member& by) {
  if (queued_.value() == 0) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t n = 0; n < members_.size(); ++n) {
    Member* member = members_[turn_++ % members_.size()];
    if (member == &by || member->queued_ == 0) continue;
    member->room_free();
    return;
  }
}

}  // namespace edge::runtime
