#include "controller/acme/questions.h"

#include <algorithm>

namespace edge::controller::acme {

bool Questions::add(const WantedName& name) {
  const bool waits = std::ranges::any_of(waiting_, [&name](const WantedName& other) {
    return other.host == name.host && other.secret == name.secret && other.name_space == name.name_space;
  });
  if (waits) return true;
  if (waiting_.size() >= kMostWaiting) return false;
  Use& use = uses_[{name.name_space, name.secret}];
  if (use.waiting >= kMostWaitingOfListener) return false;
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
  if (asked_ >= kMostInMinute || use.asked >= kMostInMinuteOfListener) return false;
  ++asked_;
  ++use.asked;
  return true;
}

std::optional<Questions::Next> Questions::take(std::int64_t now) {
  begin_minute(now);
  const auto found = std::ranges::find_if(waiting_, [this](const WantedName& name) {
    return uses_[{name.name_space, name.secret}].under_way < kMostOfListener;
  });
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
