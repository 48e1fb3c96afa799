#include "agent/wan/choice.h"

#include <algorithm>
#include <tuple>

namespace edge::agent::wan {
namespace {

/// A path that fails within so many times the wait that it came back after has come back too soon.
constexpr int kSoon = 10;

bool clearly_faster(const PathState& one, const PathState& other) {
  return one.latency + kBetterBy < other.latency && 3 * one.latency < 2 * other.latency;
}

bool clearly_less_lossy(const PathState& one, const PathState& other) { return one.loss_high < other.loss_low; }

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kStart:
      return "start";
    case Cause::kFault:
      return "fault";
    case Cause::kReturned:
      return "returned";
    case Cause::kBetter:
      return "better";
    case Cause::kNoneFit:
      return "none fit";
  }
  return "";
}

PathState path_state(const PathMeter& meter, const Fitness& fitness, const Quality& quality) {
  PathState state{.fault = fitness.fault(),
                  .since = fitness.since(),
                  .measured = meter.measured(),
                  .latency = quality.latency,
                  .loss_low = quality.loss_low,
                  .loss_high = quality.loss_high};
  if (!meter.alive()) {
    state.fault = Fault::kDead;
    state.since = meter.alive_since();
  } else if (state.fault == Fault::kNone) {
    state.since = std::max(state.since, meter.alive_since());
  }
  return state;
}

Choice::Choice(const ChoiceSettings& settings, std::vector<Candidate> candidates) : settings_(settings) {
  for (const Candidate& candidate : candidates) {
    members_.push_back({.candidate = candidate, .back_after = settings.back_after});
  }
}

std::optional<Change> Choice::step(std::span<const PathState> paths, Time now) {
  for (std::size_t i = 0; i < members_.size(); ++i) update(members_[i], paths[i], now);
  Selection next = decide(paths);
  if (chosen_ && next == selection_) return std::nullopt;
  // Until something is known of the paths there is nothing to report.
  const bool known = std::ranges::any_of(paths, &PathState::measured);
  if (!chosen_ && !known && !next.dropped) return std::nullopt;
  Change change{.before = selection_, .now = next, .cause = cause(next, paths)};
  for (const std::size_t path : selection_.paths) {
    if (paths[path].fault != Fault::kNone) change.fault = paths[path].fault;
  }
  chosen_ = true;
  selection_ = std::move(next);
  return change;
}

void Choice::update(Member& member, const PathState& path, Time now) {
  const bool fit = path.fault == Fault::kNone && path.measured;
  if (member.eligible == fit) return;
  if (!member.eligible) {
    if (member.was_eligible && now - std::max(path.since, member.changed) < member.back_after) return;
    member.eligible = member.was_eligible = true;
    member.changed = now;
    return;
  }
  // A link that was switched off leaves at once.
  if (path.fault != Fault::kDisabled && now - path.since < settings_.after) return;
  const bool soon = now - member.changed < kSoon * member.back_after;
  member.back_after =
      soon ? std::min(2 * member.back_after, std::max(kLongestBack, settings_.back_after)) : settings_.back_after;
  member.eligible = false;
  member.changed = now;
}

std::vector<std::size_t> Choice::eligible_paths() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].eligible) found.push_back(i);
  }
  return found;
}

/// Those that nothing is wrong with now; what is in use stays as long as it is one of them.
std::vector<std::size_t> Choice::fit_paths(std::span<const PathState> paths) const {
  std::vector<std::size_t> found;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].fault != Fault::kNone || !paths[i].measured) continue;
    found.push_back(i);
    if (std::ranges::find(selection_.paths, i) != selection_.paths.end()) used.push_back(i);
  }
  return used.empty() || settings_.strategy == Strategy::kLoadBalance ? found : used;
}

/// Of `among` those of the best kind.
std::vector<std::size_t> Choice::best_tier(const std::vector<std::size_t>& among) const {
  std::vector<std::size_t> tier;
  std::pair<bool, bool> best{true, true};
  for (const std::size_t path : among) {
    const std::pair kind(members_[path].candidate.metered, members_[path].candidate.backup);
    if (kind < best) tier.clear();
    if (kind <= best || tier.empty()) {
      best = kind;
      tier.push_back(path);
    }
  }
  return tier;
}

/// One of `among`, which is not empty: the one in use unless another is clearly better.
std::size_t Choice::choose(const std::vector<std::size_t>& among, std::span<const PathState> paths) const {
  if (settings_.strategy == Strategy::kPreferred) return among.front();
  const auto better = settings_.strategy == Strategy::kLowestLatency ? clearly_faster : clearly_less_lossy;
  const bool in_use = selection_.paths.size() == 1 && std::ranges::find(among, selection_.paths.front()) != among.end();
  std::size_t best = in_use ? selection_.paths.front() : among.front();
  for (const std::size_t path : among) {
    // The first choice has nothing to keep: a smaller difference will do.
    const bool smaller = settings_.strategy == Strategy::kLowestLatency ? paths[path].latency < paths[best].latency
                                                                        : paths[path].loss_high < paths[best].loss_high;
    if (in_use ? better(paths[path], paths[best]) : smaller) best = path;
  }
  return best;
}

Selection Choice::decide(std::span<const PathState> paths) const {
  std::vector<std::size_t> among = best_tier(eligible_paths());
  if (among.empty()) among = best_tier(fit_paths(paths));
  if (among.empty()) return best_effort(paths);
  if (settings_.strategy == Strategy::kLoadBalance) return {.paths = among};
  return {.paths = {choose(among, paths)}};
}

/// Without a fit path: what is in use as long as it lives, and if nothing lives, as there is nothing better.
Selection Choice::best_effort(std::span<const PathState> paths) const {
  if (settings_.fallback == Fallback::kDrop) return {.paths = {}, .dropped = true};
  const auto usable = [&](std::size_t path) {
    return paths[path].measured && paths[path].fault != Fault::kDead && paths[path].fault != Fault::kDisabled;
  };
  std::optional<std::size_t> best;
  for (const std::size_t path : selection_.paths) {
    if (usable(path) && !best) best = path;
  }
  for (std::size_t path = 0; path < paths.size() && !best; ++path) {
    if (usable(path)) best = path;
  }
  const auto rank = [&](std::size_t path) {
    return std::tuple(members_[path].candidate.metered, paths[path].loss_low, paths[path].latency);
  };
  const bool keeps = best && std::ranges::find(selection_.paths, *best) != selection_.paths.end();
  for (std::size_t path = 0; path < paths.size() && best && !keeps; ++path) {
    if (usable(path) && rank(path) < rank(*best)) best = path;
  }
  if (best) return {.paths = {*best}, .best_effort = true};
  return {.paths = selection_.paths, .best_effort = true};
}

Cause Choice::cause(const Selection& now, std::span<const PathState> paths) const {
  if (!chosen_) return Cause::kStart;
  if (now.best_effort || now.dropped) return Cause::kNoneFit;
  for (const std::size_t path : selection_.paths) {
    if (!members_[path].eligible && paths[path].fault != Fault::kNone) return Cause::kFault;
  }
  const bool by_quality = settings_.strategy == Strategy::kLowestLatency || settings_.strategy == Strategy::kLowestLoss;
  if (!by_quality || now.paths.empty() || selection_.paths.empty()) return Cause::kReturned;
  const auto kind = [&](std::size_t path) {
    return std::pair(members_[path].candidate.metered, members_[path].candidate.backup);
  };
  return kind(now.paths.front()) == kind(selection_.paths.front()) ? Cause::kBetter : Cause::kReturned;
}

}  // namespace edge::agent::wan
