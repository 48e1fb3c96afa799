#include "controller/federation/follow.h"

#include <utility>

namespace edge::federation {
namespace {

bool has_content(const VersionPtr& version, const std::optional<std::string>& content) {
  const bool deleted = version == nullptr || version->deleted;
  return deleted ? !content : content && version->content == *content;
}

/// Deletions among them; null: none is known.
VersionPtr first_of(const Replica& replica, const ObjectKey& key) {
  const auto* held = replica.siblings(key);
  return held == nullptr ? nullptr : held->front().version;
}

FollowStep step_to(const VersionPtr& version) {
  if (version->deleted) return {.kind = FollowStep::Kind::kDelete};
  return {.kind = FollowStep::Kind::kApply, .version = version};
}

}  // namespace

Result<FollowStep> follow(Replica& replica, Applied& applied, const ObjectKey& key,
                          const std::optional<std::string>& content, ApiState api, std::int64_t now) {
  const VersionPtr winner = first_of(replica, key);
  const auto found = applied.find(key);
  const VersionPtr base = found == applied.end() ? nullptr : found->second;
  if (has_content(winner, content)) {
    if (winner == nullptr) {
      applied.erase(key);
    } else {
      applied[key] = winner;
    }
    return FollowStep{};
  }
  // Unchanged there, or older there: what others wrote is applied. Without a version nothing is known to be deleted.
  const bool is_old = has_content(base, content) || (api == ApiState::kRestored && base != nullptr);
  if (winner != nullptr && is_old && (base != nullptr || !content)) return step_to(winner);

  auto written = replica.change(key, base, content, now);
  if (!written) return written.error();
  const bool conflict = winner != nullptr && winner != base;
  const VersionPtr first = first_of(replica, key);
  if (has_content(first, content)) {
    applied[key] = first;
    return FollowStep{.conflict = conflict};
  }
  // It is kept as the loser. What the API has is that version, so that the winner is applied over it.
  applied[key] = *written;
  FollowStep step = step_to(first);
  step.conflict = conflict;
  return step;
}

}  // namespace edge::federation
