#include "controller/acme/questions.h"

#include <algorithm>

namespace edge::controller::acme {

bool Questions::add(const WantedName& name) {
  const bool waits = std::ranges::any_of(waiting_, [&name](const WantedName& other) {
    return other.host == name.host && other.secret == name.secret && other.name_space == name.name_space;
  });
  if (waits) return true;
  Use& use = uses_[{name.name_space, name.secret}];
  const bool full = waiting_.size() >= kMostWaiting;
  if (use.waiting >= (full ? kOwnWaitingOfListener : kMostWaitingOfListener)) return false;
  ++use.waiting;
  waiting_.push_back(name);
  return true;
}

void Questions::begin_minute(std::int64_t now) {
  constexpr std::int64_t kMinute = 60;
  if (now >= minute_ && now < minute_ + kMinute) return;
  minute_ = now;
  asked_ = 0;
  std::erase_if(uses_, [](const auto& one) { return one.second.waiting == 0 && one.second.under_way == 0; });
  for (auto& [listener, use] : uses_) use.asked = 0;
}

bool Questions::may_ask(Use& use) {
  const bool used_up = asked_ >= kMostInMinute;
  if (use.asked >= (used_up ? kOwnInMinuteOfListener : kMostInMinuteOfListener)) return false;
  ++asked_;
  ++use.asked;
  return true;
}

/// Of equal listeners the first in the queue.
std::deque<WantedName>::iterator Questions::next_one() {
  auto best = waiting_.end();
  std::pair<std::size_t, std::uint32_t> least;
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    const Use& use = uses_[{at->name_space, at->secret}];
    const std::pair had{use.under_way, use.asked};
    if (use.under_way >= kMostOfListener || (best != waiting_.end() && had >= least)) continue;
    best = at;
    least = had;
  }
  return best;
}

std::optional<Questions::Next> Questions::take(std::int64_t now) {
  begin_minute(now);
  const auto found = next_one();
  if (found == waiting_.end()) return std::nullopt;
  Next next{.name = std::move(*found)};
  waiting_.erase(found);
  Use& use = uses_[{next.name.name_space, next.name.secret}];
  --use.waiting;
  next.allowed = may_ask(use);
  if (next.allowed) ++use.under_way;
  return next;
}

void Questions::ended(const WantedName& name) {
  const auto found = uses_.find({name.name_space, name.secret});
  if (found != uses_.end() && found->second.under_way > 0) --found->second.under_way;
}

}  // namespace edge::controller::acme
