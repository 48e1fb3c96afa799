// The cluster's API and the state follow each other.
#include <algorithm>
#include <utility>

#include "base/resource_id.h"
#include "controller/federation/content.h"
#include "controller/federation/run/engine.h"
#include "schemas/schema.h"

namespace edge::federation {
namespace {

using namespace std::chrono_literals;

/// Objects that are looked at before frames are sent again.
constexpr std::size_t kMostAtOnce = 512;
constexpr net::Duration kFirstRetry = 1s;
constexpr net::Duration kLongestRetry = 60s;
constexpr auto kTellCounts = 10s;
/// Milliseconds for which changes may be on their way to a peer that is in step.
constexpr std::int64_t kLately = 10'000;

VersionPtr first_version(const Replica& replica, const ObjectKey& key) {
  const auto* siblings = replica.siblings(key);
  return siblings == nullptr ? nullptr : siblings->front().version;
}

std::size_t losers_of(const std::vector<HeldVersion>& siblings) {
  return static_cast<std::size_t>(std::ranges::count_if(
      siblings, [&](const HeldVersion& held) { return !agree(*siblings.front().version, *held.version); }));
}

}  // namespace

/// Whether anything of it is exchanged with any peer.
bool Engine::is_covered(const ObjectKey& key) const {
  return std::ranges::any_of(specs_, [&](const PeerSpec& spec) {
    return takes_part(spec) && (spec.reads.covers(key) || spec.shares.covers(key) || spec.writes.covers(key));
  });
}

void Engine::mark_all(const std::string& kind, bool restored) {
  const auto mark = [&](const ObjectKey& key) {
    if (key.kind != kind) return;
    dirty_.insert(key);
    if (restored) restored_.insert(key);
  };
  for (const auto& [key, object] : api_->objects()) mark(key);
  for (const auto& [key, siblings] : state_->replica.objects()) mark(key);
  for (const auto& [key, version] : state_->applied) mark(key);
}

/// Whether the API has an earlier state of the object than it has had.
bool Engine::is_older(const ObjectKey& key, const ApiObject& object) const {
  const auto record = state_->records.find(key);
  if (record == state_->records.end() || record->second.uid.empty()) return false;
  if (record->second.uid != object.uid) return false;
  const auto base = state_->applied.find(key);
  const bool was_deleted = base == state_->applied.end() || base->second->deleted;
  if (was_deleted) return !object.ending;
  return object.generation < record->second.generation;
}

/// An API that was restored from a backup shows it by versions that have gone back, or by objects that have. All of it
/// is older then, and nothing is deleted because it is not there.
void Engine::look_for_restored() {
  bool restored = false;
  std::map<std::string, std::uint64_t>& seen = state_->api_versions;
  std::set<std::string> kinds;
  for (const PeerSpec& spec : specs_) {
    for (const Scope* scope : {&spec.reads, &spec.shares, &spec.writes}) {
      if (takes_part(spec)) kinds.insert(scope->kinds.begin(), scope->kinds.end());
    }
  }
  for (const std::string& kind : kinds) {
    if (!api_->is_listed(kind)) continue;
    const std::uint64_t version = api_->version(kind);
    if (std::exchange(lists_[kind], api_->lists(kind)) == api_->lists(kind)) {
      seen[kind] = std::max(seen[kind], version);
      continue;
    }
    const bool went_back = version > 0 && version < seen[kind];
    const bool older = std::ranges::any_of(api_->objects(), [&](const auto& entry) {
      return entry.first.kind == kind && is_older(entry.first, entry.second);
    });
    restored = restored || went_back || older;
    seen[kind] = version;
    mark_all(kind, false);
  }
  if (!restored) return;
  options_.log.warn("the API of this cluster is older than it was: what the federation knows is written to it again");
  for (const std::string& kind : kinds) {
    mark_all(kind, true);
    if (!api_->is_listed(kind)) seen.erase(kind);
  }
}

void Engine::follow_dirty() {
  dirty_.insert(state_->replica.touched().begin(), state_->replica.touched().end());
  for (std::size_t done = 0; !dirty_.empty() && done < kMostAtOnce; ++done) {
    const ObjectKey key = std::move(dirty_.extract(dirty_.begin()).value());
    follow_one(key);
  }
  if (!dirty_.empty()) work_soon();
}

/// The object's content in the terms of what was applied: less what the API itself has made of that.
std::string Engine::content_in_api(const ObjectKey& key, const ApiObject& object, const VersionPtr& base) const {
  const auto record = state_->records.find(key);
  if (base == nullptr || record == state_->records.end() || record->second.echo.empty()) return object.content;
  return record->second.echo == object.content ? base->content
                                               : changed_content(base->content, record->second.echo, object.content);
}

void Engine::follow_one(const ObjectKey& key) {
  // Once it is written, or is to be tried again, or its kind has been listed, it is looked at again.
  if (api_->is_writing(key) || applying_.contains(key)) return;
  const auto retry = retries_.find(key);
  if (retry != retries_.end() && loop_.now() < retry->second.at) return;
  if (!is_covered(key)) {
    retries_.erase(key);
    return;
  }
  if (!api_->is_listed(key.kind)) return;
  Replica& replica = state_->replica;
  const ApiObject* const object = api_->find(key);
  if (object != nullptr && object->is_machine) return;
  const auto applied = state_->applied.find(key);
  const VersionPtr base = applied == state_->applied.end() ? nullptr : applied->second;
  const VersionPtr winner = first_version(replica, key);
  // An earlier version of a peer may send what belongs to that cluster, and whoever may write Secrets here what would
  // pass for this one's.
  if (key.kind == "Secret" && winner != nullptr && !winner->deleted && is_machine_secret(winner->content)) return;
  const bool exists = object != nullptr && !object->ending;
  // Another cluster's object whose version is not known, as the state was lost: it is not this cluster's by that.
  const bool is_lost = exists && base == nullptr && object->has_origin;
  if (is_lost && winner == nullptr) return;

  const std::optional<std::string> content = exists ? std::optional(content_in_api(key, *object, base)) : std::nullopt;
  FollowStep step;
  if (is_lost && winner->origin != options_.cluster_uid && *content != winner->content) {
    step = winner->deleted ? FollowStep{.kind = FollowStep::Kind::kDelete}
                           : FollowStep{.kind = FollowStep::Kind::kApply, .version = winner};
  } else {
    const ApiState api = restored_.contains(key) ? ApiState::kRestored : ApiState::kGoesOn;
    auto followed = federation::follow(replica, state_->applied, key, content, api, wall());
    if (!followed) {
      retries_.insert_or_assign(key, Retry{loop_.now() + kLongestRetry, kube::Backoff(kFirstRetry, kLongestRetry, {}),
                                           followed.error().text});
      tell_event(event_tokens_, key, kube::EventLevel::kWarning, "FederationRefused", followed.error().text);
      return;
    }
    step = std::move(*followed);
  }
  const auto now = state_->applied.find(key);
  const bool moved = (now == state_->applied.end() ? nullptr : now->second) != base;
  if (moved || step.kind == FollowStep::Kind::kNothing) take_echo(key, exists ? object : nullptr);
  if (step.kind == FollowStep::Kind::kNothing) {
    restored_.erase(key);
    retries_.erase(key);
    return;
  }
  // What waits for its finalizers is written anew when it is gone.
  if (object != nullptr && object->ending) return;
  applying_[key] = {.version = first_version(replica, key),
                    .uid = object == nullptr ? std::string() : object->uid,
                    .resource_version = object == nullptr ? std::string() : object->resource_version};
  to_write_.push_back(key);
}

/// Remembers how the API has what is applied. `object`: null: it has none.
void Engine::take_echo(const ObjectKey& key, const ApiObject* object) {
  const auto applied = state_->applied.find(key);
  ApiRecord record;
  const auto before = state_->records.find(key);
  if (before != state_->records.end()) record = before->second;
  const VersionPtr base = applied == state_->applied.end() ? nullptr : applied->second;
  if (object != nullptr && base != nullptr && !base->deleted) {
    record.uid = object->uid;
    record.generation = object->generation;
    record.echo = object->content == base->content ? std::string() : object->content;
  } else {
    record.echo.clear();
    record.generation = 0;
  }
  if (base == nullptr) record = {};
  const ApiRecord none;
  if (record == (before == state_->records.end() ? none : before->second) && !state_->replica.touched().contains(key)) {
    return;
  }
  if (record == none) {
    state_->records.erase(key);
  } else {
    state_->records.insert_or_assign(key, std::move(record));
  }
  state_->touched.insert(key);
}

void Engine::start_writes() {
  while (!to_write_.empty() && api_->may_write()) {
    const ObjectKey key = std::move(to_write_.front());
    to_write_.pop_front();
    const auto found = applying_.find(key);
    if (found == applying_.end()) continue;
    // What somebody has changed since it was looked at is looked at again, and not overwritten.
    const ApiObject* const object = api_->find(key);
    const bool changed =
        found->second.resource_version != (object == nullptr ? std::string() : object->resource_version);
    if (changed || !api_->is_listed(key.kind)) {
      applying_.erase(found);
      dirty_.insert(key);
      work_soon();
      continue;
    }
    // Others may have come since.
    const VersionPtr winner = first_version(state_->replica, key);
    if (winner != nullptr) found->second.version = winner;
    const VersionPtr version = found->second.version;
    if (version == nullptr || version->deleted) {
      api_->remove(key);
    } else {
      api_->put(key, version->content,
                version->origin == options_.cluster_uid ? std::string() : name_of(version->origin));
    }
  }
}

void Engine::wrote(const ObjectKey& key, const ApiWrite& write) {
  if (!runs()) return;
  const auto found = applying_.find(key);
  if (found == applying_.end()) return;
  const Applying applying = std::move(found->second);
  applying_.erase(found);
  dirty_.insert(key);
  work_soon();
  if (write.outcome == ApiWrite::Outcome::kFailed) {
    Retry& retry =
        retries_.try_emplace(key, Retry{{}, kube::Backoff(kFirstRetry, kLongestRetry, {}), {}}).first->second;
    retry.at = loop_.now() + retry.backoff.next();
    if (std::exchange(retry.fault, write.fault) != write.fault) {
      options_.log.warn("a federated object cannot be written here",
                        {{"object", resource_text(key.kind, key.name_space, key.name)}, {"reason", write.fault}});
    }
    return;
  }
  retries_.erase(key);
  if (write.outcome == ApiWrite::Outcome::kChanged || applying.version == nullptr) return;
  state_->applied[key] = applying.version;
  state_->touched.insert(key);
  if (applying.version->deleted) {
    state_->records[key] = {.echo = {}, .uid = applying.uid, .generation = 0};
    return;
  }
  if (const ApiObject* const object = api_->find(key)) take_echo(key, object);
}

/// Of all objects, at the beginning: those conflicts were told of before.
void Engine::find_conflicts() {
  for (const auto& [key, siblings] : state_->replica.objects()) {
    if (const std::size_t losers = losers_of(siblings); losers > 0) conflicts_[key] = losers;
  }
}

/// Of the objects that have changed: a conflict that is new is told.
void Engine::look_at_conflicts() {
  for (const ObjectKey& key : state_->replica.touched()) {
    const auto* siblings = state_->replica.siblings(key);
    const std::size_t losers = siblings == nullptr ? 0 : losers_of(*siblings);
    const auto before = conflicts_.find(key);
    const std::size_t known = before == conflicts_.end() ? 0 : before->second;
    if (losers == 0) {
      conflicts_.erase(key);
      continue;
    }
    conflicts_[key] = losers;
    if (losers <= known) continue;
    const Version& winner = *siblings->front().version;
    tell_event(event_tokens_, key, kube::EventLevel::kWarning, "FederationConflict",
               "clusters have changed it without knowing of each other; the version of " +
                   name_of(winner.dot.replica.cluster) + (winner.deleted ? ", a deletion," : "") + " holds by " +
                   std::string(to_string(state_->replica.rules().policy)) +
                   ", the others are kept: edgectl federation conflicts");
  }
}

/// Few: of a partition with thousands of conflicts the first ones, and the number in the status.
void Engine::tell_event(std::size_t& tokens, const ObjectKey& key, kube::EventLevel level, const char* reason,
                        const std::string& message) {
  if (tokens == 0 || recorder_ == nullptr) return;
  --tokens;
  const schemas::Kind* const kind = schemas::find_kind(key.kind);
  const ApiObject* const object = api_ == nullptr ? nullptr : api_->find(key);
  recorder_->record({.api_version = kind == nullptr ? std::string() : std::string(kind->api_version),
                     .kind = key.kind,
                     .name_space = key.name_space,
                     .name = key.name,
                     .uid = object == nullptr ? std::string() : object->uid},
                    level, reason, message);
}

PeerStatus Engine::status_of(const PeerSpec& spec) const {
  PeerStatus status{
      .enabled = spec.enabled, .synced = false, .reason = "Disabled", .message = "spec.federation is not enabled"};
  if (!spec.enabled) return status;
  if (spec.shares_nothing()) {
    status.reason = "NothingNamed";
    status.message = "spec.federation names no kinds: nothing is exchanged";
    return status;
  }
  if (!takes_part(spec)) {
    status.reason = "AnotherHub";
    status.message = another_hub();
    return status;
  }
  if (!runs()) {
    status.reason = "NotRunning";
    status.message = fault_.empty() ? "federation has not begun yet" : fault_;
    return status;
  }
  status.objects = objects_;
  status.conflicts = conflicts_.size();
  status.reason = "NotConnected";
  status.message = "the cluster has not connected for federation";
  for (const auto& [cluster, peer] : state_->replica.peers()) {
    if (peer.removed || spec_of(cluster, peer) != &spec) continue;
    const auto connection = connections_.find(cluster);
    if (const PeerCounts* const counts = counts_of(cluster)) {
      for (const auto& [reason, count] : counts->refused) status.refused += count;
      for (const auto& [reason, count] : counts->refused_by_peer) status.refused_by_peer += count;
      if (!counts->fault.empty()) status.message = counts->fault;
    }
    status.lag = state_->replica.sequence() - std::min(state_->replica.sequence(), peer.acknowledged);
    if (connection == connections_.end() || connection->second.session == nullptr) continue;
    const SessionFacts facts = connection->second.session->facts();
    // Changes that come one after the other are no condition.
    const PeerCounts* const counts = counts_of(cluster);
    const bool lately = counts != nullptr && counts->behind_since > 0 && steady() - counts->behind_since < kLately;
    status.synced = facts.synchronized || (facts.greeted && !facts.comparing && lately && was_synced(spec));
    status.reason = status.synced ? "Synced" : facts.comparing ? "Comparing" : "Syncing";
    status.message = status.synced ? "the cluster has acknowledged everything"
                     : facts.comparing
                         ? "this cluster may have what was deleted meanwhile, and compares with the whole list"
                         : "changes are on their way";
  }
  if (status.synced && !retries_.empty()) {
    status.reason = "NotApplied";
    status.synced = false;
    status.message = std::to_string(retries_.size()) +
                     " objects cannot be written here: " + retries_.begin()->first.kind + " " +
                     retries_.begin()->first.name + ": " + retries_.begin()->second.fault;
  } else if (status.synced && spec.hub.empty() && spec.policy != policy_) {
    status.message = "the conflictPolicy " + std::string(to_string(policy_)) +
                     " of the oldest EdgeRemoteCluster holds for all of the federation";
  }
  return status;
}

bool Engine::was_synced(const PeerSpec& spec) const {
  const auto told = told_.find(spec.object);
  return told != told_.end() && told->second.synced;
}

const PeerCounts* Engine::counts_of(const std::string& cluster) const {
  const auto found = counts_.find(cluster);
  return found == counts_.end() ? nullptr : &found->second;
}

/// What changes all the time is told every ten seconds, a condition at once.
void Engine::tell_statuses() {
  Statuses statuses;
  objects_ = runs() ? state_->replica.counts().objects : 0;
  for (const PeerSpec& spec : specs_) {
    if (!spec.object.empty()) statuses[spec.object] = status_of(spec);
  }
  if (statuses == told_) return;
  const bool conditions = !std::ranges::equal(statuses, told_, [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.enabled == b.second.enabled && a.second.synced == b.second.synced &&
           a.second.reason == b.second.reason;
  });
  // A peer that gets changes now and then is in turn synced and not: that is none.
  if (!conditions && loop_.now() - told_at_ < kTellCounts) return;
  told_ = statuses;
  told_at_ = loop_.now();
  tell_(std::move(statuses));
}

}  // namespace edge::federation
