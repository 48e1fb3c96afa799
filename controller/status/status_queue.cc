#include "controller/status/status_queue.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "controller/status/remote_status.h"
#include "controller/status/wan_status.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

std::optional<std::uint64_t> number(const std::string& version) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(version.data(), version.data() + version.size(), value);
  if (fault != std::errc() || end != version.data() + version.size()) return std::nullopt;
  return value;
}

/// An event of a watch may come after the answer to a later write. Versions are said to be opaque; where they are
/// numbers, as everywhere, a lesser one is older (KEP-5504).
bool is_older(const std::string& version, const std::string& than) {
  const auto a = number(version);
  const auto b = number(than);
  return a && b && *a < *b;
}

std::string patch_text(const StatusQueue::Observed& observed, std::string_view fields) {
  const Json metadata = {{"uid", observed.uid}, {"resourceVersion", observed.resource_version}};
  return R"({"metadata":)" + metadata.dump() + R"(,"status":)" + std::string(fields) + "}";
}

/// What has listeners that clients could not reach, or cannot reach now.
std::set<ResourceId> listening_that_differ(const AgentsView& before, const AgentsView& after) {
  std::set<ResourceId> all;
  if (before.unbound == after.unbound) return all;
  for (const auto* unbound : {&before.unbound, &after.unbound}) {
    for (const UnboundListener& one : *unbound) {
      for (const char* kind : {"ProxyGateway", "Gateway"})
        all.insert(ResourceId::of(kind, one.name_space, one.gateway));
      // `namespace/set/listener`, of a ListenerSet.
      const std::size_t space = one.listener.find('/');
      const std::size_t name = one.listener.rfind('/');
      if (space < name) {
        all.insert(ResourceId::of("ListenerSet", one.listener.substr(0, space),
                                  one.listener.substr(space + 1, name - space - 1)));
      }
    }
  }
  return all;
}

}  // namespace

void StatusQueue::unschedule(const ResourceId& key, Entry& entry) {
  if (const auto place = std::exchange(entry.in_vips, std::nullopt)) vips_.erase({*place, key});
  if (entry.at == net::kNever) return;
  by_time_.erase({entry.at, key});
  entry.at = net::kNever;
}

void StatusQueue::schedule(const ResourceId& key, Entry& entry, net::Time at) {
  if (entry.writing) {
    entry.again = true;
    return;
  }
  if (!entry.seen || !entry.desired) return;
  unschedule(key, entry);
  entry.at = at;
  by_time_.insert({at, key});
}

void StatusQueue::observe(const ResourceId& key, Observed observed, net::Time now) {
  Entry& entry = entries_[key];
  if (entry.seen && entry.observed.uid == observed.uid &&
      is_older(observed.resource_version, entry.observed.resource_version)) {
    return;
  }
  entry.observed = std::move(observed);
  entry.seen = true;
  // One that failed before waits for its time.
  if (entry.failures == 0) schedule(key, entry, now);
}

void StatusQueue::forget(const ResourceId& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  unschedule(key, found->second);
  std::erase_if(events_, [&](const VipEvent& event) { return event.key == key; });
  if (found->second.writing) --writing_;
  if (found->second.desired) by_program_.erase({found->second.desired->program, key});
  entries_.erase(found);
}

void StatusQueue::set_desired(DesiredStatus desired, net::Time now) {
  const ResourceId key = desired.key;
  Entry& entry = entries_[key];
  if (entry.desired) by_program_.erase({entry.desired->program, key});
  entry.desired = std::move(desired);
  if (entry.desired->servable) by_program_.emplace(entry.desired->program, key);
  entry.desired_at = now;
  schedule(key, entry, now);
}

void StatusQueue::agents(AgentsView view, net::Time now) {
  const std::vector<std::string> backends = backends_that_differ(agents_, view);
  const std::vector<std::string> vips = vips_that_differ(agents_, view);
  const std::vector<std::string> remotes = remotes_that_differ(agents_, view);
  const std::vector<std::string> wan = wan_that_differ(agents_, view);
  const bool programs =
      agents_.programs != view.programs || agents_.refusal != view.refusal || agents_.pinned != view.pinned;
  const std::uint64_t first_before = first_pending();
  const std::set<ResourceId> listening = listening_that_differ(agents_, view);
  agents_ = std::move(view);
  const auto schedule_known = [&](const ResourceId& of) {
    const auto found = entries_.find(of);
    if (found != entries_.end()) schedule(found->first, found->second, now);
  };
  // As agents told it: perhaps of nothing.
  const auto schedule_told = [&](const std::string& text) {
    if (const auto of = parse_resource_id(text)) schedule_known(*of);
  };
  for (const ResourceId& one : listening) schedule_known(one);
  for (const std::string& vip : vips) schedule_told("ProxyVIP " + vip);
  for (const std::string& one : wan) schedule_told(one);
  for (const std::string& remote : remotes) schedule_told("EdgeRemoteCluster " + remote);
  for (const std::string& backend : backends) schedule_told("ProxyBackend " + backend);
  if (!programs) return;
  // An agent may also have fallen back, or have come with an older program: everything that it does not run counts.
  const std::uint64_t first = first_pending();
  for (auto at = by_program_.lower_bound({std::min(first, first_before), {}}); at != by_program_.end(); ++at) {
    const auto& [program, key] = *at;
    Entry& entry = entries_.at(key);
    schedule(key, entry, now);
    if (program < first_before) entry.desired_at = now;
  }
}

void StatusQueue::refill(net::Time now) {
  const double seconds = std::chrono::duration<double>(now - std::max(refilled_, net::Time())).count();
  if (refilled_ != net::Time()) tokens_ = std::min(options_.burst, tokens_ + std::max(0.0, seconds) * options_.rate);
  refilled_ = now;
}

/// Null: nothing can be due.
const ResourceId* StatusQueue::first_due(net::Time now) const {
  if (!by_time_.empty() && by_time_.begin()->first <= now) return &by_time_.begin()->second;
  return !vips_.empty() && vip_may_be_written(now) ? &vips_.begin()->second : nullptr;
}

/// Of a ProxyVIP that has something to be written: whether another one is first, or it is too early for any. Agents
/// know an address of a pool by the status alone, so that it must not wait for the others.
bool StatusQueue::wait_for_others(const ResourceId& key, Entry& entry, bool allocates, net::Time now) {
  const net::Time place = allocates ? net::Time::min() : entry.written.value_or(net::Time());
  if (vip_may_be_written(now) && (vips_.empty() || std::pair(place, key) < *vips_.begin())) return false;
  vips_.emplace(place, key);
  entry.in_vips = place;
  return true;
}

std::optional<StatusQueue::Write> StatusQueue::next(net::Time now, const std::string& wall) {
  refill(now);
  while (writing_ < options_.in_flight && tokens_ >= 1) {
    const ResourceId* const first = first_due(now);
    if (first == nullptr) break;
    const ResourceId key = *first;
    Entry& entry = entries_.at(key);
    unschedule(key, entry);
    auto change = change_of_status(*entry.desired, entry.observed.status, agents_, options_.controller_class, wall);
    const std::uint64_t fields = change ? hash_bytes(0, change->fields) : 0;
    if (!change || (fields == entry.wrote && hash_bytes(0, entry.observed.status) == entry.answered)) {
      entry.failures = 0;
      continue;
    }
    if (change->only_pending && now < entry.desired_at + options_.patience) {
      schedule(key, entry, entry.desired_at + options_.patience);
      continue;
    }
    if (change->only_checks && entry.written && now < *entry.written + options_.between_checks) {
      schedule(key, entry, *entry.written + options_.between_checks);
      continue;
    }
    if (key.kind == "ProxyVIP") {
      if (wait_for_others(key, entry, change->allocates, now)) continue;
      vip_pace_.begin();
      ++in_a_row_;
      entry.events = events_of(key, std::exchange(change->flips, {}));
    }
    tokens_ -= 1;
    ++writing_;
    entry.writing = true;
    entry.wrote = fields;
    entry.written = now;
    return Write{key, entry.observed.uid, patch_text(entry.observed, change->fields), std::move(change->flips)};
  }
  return std::nullopt;
}

std::optional<StatusQueue::VipEvent> StatusQueue::next_event(net::Time now) {
  if (events_.empty() || !vip_pace_.may_begin(now)) return std::nullopt;
  VipEvent event = std::move(events_.front());
  events_.pop_front();
  in_a_row_ = 0;
  vip_pace_.begin();
  return event;
}

void StatusQueue::begin_to_lead(net::Time now) {
  events_.clear();
  vip_pace_.hold_until(now + options_.vip_window);
}

net::Time StatusQueue::due() const {
  net::Time at = net::kNever;
  if (writing_ < options_.in_flight) {
    if (!by_time_.empty()) at = by_time_.begin()->first;
    if (!vips_.empty() && !events_first()) at = std::min(at, vip_pace_.due());
    if (tokens_ < 1 && at != net::kNever) {
      const auto wait = std::chrono::duration<double>((1 - tokens_) / options_.rate);
      at = std::max(at, refilled_ + std::chrono::duration_cast<net::Duration>(wait));
    }
  }
  return events_.empty() ? at : std::min(at, vip_pace_.due());
}

void StatusQueue::done(const ResourceId& key, WriteResult outcome, std::optional<Observed> observed, net::Time now) {
  if (key.kind == "ProxyVIP") vip_pace_.end(now);
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.writing) return;
  Entry& entry = found->second;
  entry.writing = false;
  --writing_;
  const bool again = std::exchange(entry.again, false);
  std::vector<Event> events = std::exchange(entry.events, {});
  const bool newer = observed && !is_older(observed->resource_version, entry.observed.resource_version);
  if (newer) entry.observed = *std::move(observed);
  switch (outcome) {
    case WriteResult::kWritten:
      entry.failures = 0;
      entry.answered = hash_bytes(0, entry.observed.status);
      for (Event& event : events) events_.push_back({key, entry.observed.uid, std::move(event)});
      if (again) schedule(key, entry, now);
      return;
    case WriteResult::kStale:
      return schedule(key, entry, now);
    case WriteResult::kGone:
      // The watch tells of it, too; until then there is nothing to write to.
      entry.seen = false;
      return;
    case WriteResult::kFailed: {
      const auto delay = std::min(options_.longest_delay, options_.first_delay * (1 << std::min(entry.failures, 10U)));
      ++entry.failures;
      return schedule(key, entry, now + delay);
    }
  }
}

}  // namespace edge::controller
