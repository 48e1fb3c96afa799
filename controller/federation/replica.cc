#include "controller/federation/replica.h"

#include <algorithm>
#include <utility>

namespace edge::federation {
namespace {

constexpr std::size_t kMostMembers = 512;
constexpr std::size_t kMostRemoved = 256;
constexpr unsigned kRandomBits = 20;

bool is_deleted(const std::vector<HeldVersion>& siblings) {
  return std::ranges::all_of(siblings, [](const HeldVersion& held) { return held.version->deleted; });
}

}  // namespace

Replica::Replica(std::string cluster, MergeRules rules, Signatures signatures)
    : id_{.cluster = std::move(cluster), .incarnation = 0},
      rules_(std::move(rules)),
      signatures_(std::move(signatures)),
      lives_{{0, 0}} {}

void Replica::begin_life(std::int64_t now, std::uint64_t random) {
  const std::uint64_t sequence = lives_.back().last;
  // By the hybrid clock, as lives that follow each other are to be ascending though the clock was set back.
  const HybridTime time = clock_.tick(now);
  id_.incarnation = time >> 16 << kRandomBits | (random & ((1U << kRandomBits) - 1));
  counter_ = 0;
  if (lives_.back().incarnation == 0) lives_.clear();
  lives_.push_back({id_.incarnation, sequence});
  if (lives_.size() > kMostLives) lives_.erase(lives_.begin());
}

Siblings Replica::versions_of(const ObjectKey& key) const {
  Siblings out;
  if (const auto* held = siblings(key)) {
    for (const HeldVersion& one : *held) out.push_back(one.version);
  }
  return out;
}

Result<VersionPtr> Replica::write(const ObjectKey& key, std::string content, std::int64_t now) {
  if (content.size() > Version::kMostContent) {
    return Error{ErrorCode::kInvalidArgument, "an object larger than 256 KiB is not federated"};
  }
  const Siblings have = versions_of(key);
  const Siblings over = have.empty() ? Siblings{} : Siblings{have.front()};
  Version like;
  if (!have.empty()) like.origin = have.front()->origin;
  return write_over(key, over, have, like, std::move(content), now);
}

Result<VersionPtr> Replica::remove(const ObjectKey& key, std::int64_t now) {
  const VersionPtr have = winner(key);
  if (have == nullptr) return Error{ErrorCode::kNotFound, "there is no such object"};
  Version like;
  like.deleted = true;
  like.origin = have->origin;
  return write_over(key, {have}, versions_of(key), like, {}, now);
}

Result<VersionPtr> Replica::resolve(const ObjectKey& key, const Dot& chosen, std::int64_t now) {
  const Siblings have = versions_of(key);
  const auto found = std::ranges::find_if(have, [&](const VersionPtr& version) { return version->dot == chosen; });
  if (found == have.end()) return Error{ErrorCode::kNotFound, "the object has no such version"};
  Version like;
  like.deleted = (*found)->deleted;
  like.origin = (*found)->origin;
  return write_over(key, have, {}, like, (*found)->content, now);
}

Result<VersionPtr> Replica::change(const ObjectKey& key, const VersionPtr& base,
                                   const std::optional<std::string>& content, std::int64_t now) {
  const Siblings have = versions_of(key);
  const bool current = !have.empty() && base != nullptr && have.front()->dot == base->dot;
  if (content && content->size() > Version::kMostContent) {
    return Error{ErrorCode::kInvalidArgument, "an object larger than 256 KiB is not federated"};
  }
  Version like;
  like.deleted = !content;
  if (base != nullptr) like.origin = base->origin;
  return write_over(key, base == nullptr ? Siblings{} : Siblings{base}, current ? have : Siblings{}, like,
                    content.value_or(""), now);
}

Status Replica::retire(const ObjectKey& key, const std::vector<Dot>& gone, std::int64_t now) {
  const Siblings have = versions_of(key);
  Siblings replaced;
  Siblings rest;
  for (const VersionPtr& version : have) {
    (std::ranges::find(gone, version->dot) != gone.end() ? replaced : rest).push_back(version);
  }
  if (replaced.empty()) return {};
  Version like;
  like.deleted = rest.empty() || rest.front()->deleted;
  like.origin = have.front()->origin;
  std::string content;
  if (!rest.empty()) {
    content = rest.front()->content;
    replaced.push_back(rest.front());
  }
  const auto written = write_over(key, replaced, rest, like, std::move(content), now);
  if (!written) return written.error();
  // The deletion is dealt with: what stays was not written over what is gone.
  for (HeldVersion& held : objects_.at(key)) {
    if (held.version == *written) held.had_before.clear();
  }
  return {};
}

Status Replica::remember_deletion(const ObjectKey& key, std::int64_t now) {
  const Siblings have = versions_of(key);
  if (have.empty() || have.front()->deleted) return {};
  const Version& winner = *have.front();
  // What the deletion was over: all that the change has replaced, less what its author wrote, as others may not have
  // heard of that.
  auto base = std::make_shared<Version>();
  base->dot = {winner.dot.replica, 0};
  base->proofs = winner.proofs;
  for (const auto& [replica, ranges] : winner.past.entries()) {
    if (replica == winner.dot.replica) continue;
    for (const Range& range : ranges) base->past.add(replica, range);
  }
  Version like;
  like.deleted = true;
  like.origin = winner.origin;
  // Before the change, wherever it is the higher rank that wins.
  if (rules_.policy == ConflictPolicy::kNewestWins) like.rank = winner.rank - 1;
  const auto written = write_over(key, {base}, {}, like, {}, now);
  return written ? Status() : Status(written.error());
}

Result<VersionPtr> Replica::write_over(const ObjectKey& key, const Siblings& replaced, const Siblings& ranked,
                                       const Version& like, std::string content, std::int64_t now) {
  const Dot dot{id_, counter_ + 1};
  auto next = successor(versions_of(key), replaced, dot);
  auto version = std::make_shared<Version>();
  version->key = key;
  version->dot = dot;
  version->past = std::move(next.past);
  version->proofs = std::move(next.proofs);
  version->time = clock_.tick(now);
  rank_over(*version, ranked, rules_);
  if (like.rank > 0) version->rank = like.rank;
  version->deleted = like.deleted;
  version->origin = like.origin.empty() ? id_.cluster : like.origin;
  version->content = std::move(content);
  if (const Status status = sign_version(*version, signatures_); !status) return status.error();
  ++counter_;
  put(version, {});
  return VersionPtr(std::move(version));
}

VersionPtr Replica::winner(const ObjectKey& key) const {
  const auto* held = siblings(key);
  return held == nullptr || held->front().version->deleted ? nullptr : held->front().version;
}

const std::vector<HeldVersion>* Replica::siblings(const ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

std::vector<Conflict> Replica::conflicts(std::size_t limit) const {
  std::vector<Conflict> out;
  for (const auto& [key, held] : objects_) {
    for (std::size_t i = 1; i < held.size(); ++i) {
      if (agree(*held.front().version, *held[i].version)) continue;
      if (out.size() == limit) return out;
      out.push_back({held.front().version, held[i].version});
    }
  }
  return out;
}

ReplicaCounts Replica::counts() const {
  ReplicaCounts counts{
      .objects = objects_.size() - deleted_.size(), .tombstones = deleted_.size(), .dropped = dropped_};
  for (const auto& [key, held] : objects_) {
    for (const HeldVersion& one : held) counts.conflicts += !agree(*held.front().version, *one.version);
  }
  return counts;
}

void Replica::set_peer(const std::string& cluster, PeerSettings settings) {
  const auto [found, added] = peers_.try_emplace(cluster);
  Peer& peer = found->second;
  if (!added && !(peer.settings.reads == settings.reads)) peer.resend = true;
  peer.settings = std::move(settings);
  peer.removed = false;
}

void Replica::remove_peer(const std::string& cluster) {
  const auto found = peers_.find(cluster);
  if (found == peers_.end()) return;
  found->second.removed = true;
  found->second.stale = true;
  const auto removed = [](const auto& entry) { return entry.second.removed; };
  if (static_cast<std::size_t>(std::ranges::count_if(peers_, removed)) <= kMostRemoved) return;
  const auto first = std::ranges::find_if(peers_, removed);
  forget_knowledge(first->first);
  peers_.erase(first);
}

Peer* Replica::peer(const std::string& cluster) {
  const auto found = peers_.find(cluster);
  return found == peers_.end() || found->second.removed ? nullptr : &found->second;
}

void Replica::add_member(Member member) {
  if (!members_.contains(member.cluster) && members_.size() >= kMostMembers) return;
  const auto have = members_.find(member.cluster);
  if (have != members_.end() && have->second == member) return;
  ++members_version_;
  std::string cluster = member.cluster;
  members_[std::move(cluster)] = std::move(member);
}

void Replica::set_rules(MergeRules rules) {
  rules_ = std::move(rules);
  for (auto& [key, held] : objects_) {
    std::ranges::sort(
        held, [&](const HeldVersion& a, const HeldVersion& b) { return ranks_before(*a.version, *b.version, rules_); });
  }
}

bool Replica::is_granted(const Version& version, const PeerSettings& settings) const {
  if (settings.writes.covers(version.key)) return true;
  return settings.shares.covers(version.key) && version.origin == version.dot.replica.cluster;
}

Refusal Replica::check(const Version& version, const std::string& peer) const {
  const std::string& author = version.dot.replica.cluster;
  if (version.content.size() > Version::kMostContent || !version.past.within_bounds()) return Refusal::kTooLarge;
  if (version.time >= kLatestTime || version.rank > version.time) return Refusal::kTime;
  if (author != id_.cluster && !members_.contains(author)) return Refusal::kUnknownAuthor;
  if (!verify_version(version, signatures_)) return Refusal::kSignature;
  // Another cluster's rank is for who writes over a version of it.
  const bool ranked =
      version.rank_cluster == author || std::ranges::any_of(version.past.entries(), [&](const auto& entry) {
        return entry.first.cluster == version.rank_cluster;
      });
  if (!ranked) return Refusal::kSignature;
  const auto sender = peers_.find(peer);
  if (sender == peers_.end() || sender->second.removed) return Refusal::kNotGranted;
  // What this cluster wrote comes back where its state was lost.
  if (author == id_.cluster) return Refusal::kNone;
  const PeerSettings& from = sender->second.settings;
  if (from.hub) {
    if (!from.writes.covers(version.key)) return Refusal::kNotGranted;
  } else {
    const auto writer = peers_.find(author);
    if (writer == peers_.end() || writer->second.removed || !is_granted(version, writer->second.settings))
      return Refusal::kNotGranted;
    // An object that another cluster made is not its own by saying so.
    if (const auto* held = siblings(version.key);
        held != nullptr && !writer->second.settings.writes.covers(version.key)) {
      const bool others =
          std::ranges::any_of(*held, [&](const HeldVersion& one) { return one.version->origin != author; });
      if (others) return Refusal::kNotItsOwn;
    }
  }
  return is_within(version, from.quota) ? Refusal::kNone : Refusal::kQuota;
}

bool Replica::is_within(const Version& version, const Quota& quota) const {
  const std::string& author = version.dot.replica.cluster;
  Usage used;
  if (const auto found = usage_.find(author); found != usage_.end()) used = found->second;
  if (const auto* held = siblings(version.key)) {
    for (const HeldVersion& one : *held) {
      if (!version.past.contains(one.version->dot)) continue;
      // To delete what is there needs no room of its own.
      if (version.deleted) return true;
      if (one.version->dot.replica.cluster != author) continue;
      used.versions -= 1;
      used.bytes -= size_of(*one.version);
    }
  }
  return used.versions < quota.objects && used.bytes + size_of(version) <= quota.bytes;
}

Received Replica::receive(const VersionPtr& version, const std::string& peer) {
  if (const Refusal refusal = check(*version, peer); refusal != Refusal::kNone) {
    if (Peer* const sender = this->peer(peer)) {
      if (sender->refused.size() < kMostRefused) {
        sender->refused.insert({version->key, version->dot});
      } else {
        sender->refused_more = true;
      }
    }
    return {.refusal = refusal};
  }
  clock_.observe(version->time);
  const Merged merged = put(version, peer);
  return {.changed = merged.outcome == Merged::Outcome::kTaken};
}

Merged Replica::put(const VersionPtr& version, const std::string& peer) {
  Siblings siblings = versions_of(version->key);
  const Merged merged = merge(siblings, version, rules_);
  auto& held = objects_[version->key];
  const auto position = [&] {
    return std::ranges::find_if(held, [&](const HeldVersion& one) {
      return one.version == version ||
             (one.version->dot == version->dot && one.version->statement == version->statement);
    });
  };
  if (merged.outcome == Merged::Outcome::kHeld && !peer.empty() && position()->known_by.insert(peer).second) {
    touched_.insert(version->key);
  }
  if (merged.outcome == Merged::Outcome::kDropped) ++dropped_;
  if (merged.outcome != Merged::Outcome::kTaken) return merged;

  touched_.insert(version->key);
  dropped_ += merged.dropped.size();
  std::vector<HeldVersion> after;
  for (const VersionPtr& one : siblings) {
    const auto old = std::ranges::find_if(held, [&](const HeldVersion& have) { return have.version == one; });
    if (old != held.end()) {
      after.push_back(*old);
      continue;
    }
    HeldVersion fresh{.version = one, .sequence = next_sequence()};
    if (!peer.empty()) fresh.known_by.insert(peer);
    if (one == version) fresh.had_before = who_had(held, siblings);
    by_sequence_[fresh.sequence] = one->key;
    count(*one, true);
    after.push_back(std::move(fresh));
  }
  for (const HeldVersion& old : held) {
    if (std::ranges::find(siblings, old.version) == siblings.end()) take_out(old);
  }
  held = std::move(after);
  if (is_deleted(held)) {
    deleted_.insert(version->key);
  } else {
    deleted_.erase(version->key);
  }
  return merged;
}

/// Peers that had one of the versions that are no siblings any more.
std::set<std::string> Replica::who_had(const std::vector<HeldVersion>& before, const Siblings& after) const {
  std::set<std::string> peers;
  for (const HeldVersion& old : before) {
    if (std::ranges::find(after, old.version) != after.end()) continue;
    for (const auto& [cluster, peer] : peers_) {
      if (peers.size() >= HeldVersion::kMostBefore) return peers;
      if (old.had_before.contains(cluster) || is_known_by(old, cluster, peer)) peers.insert(cluster);
    }
  }
  return peers;
}

void Replica::take_out(const HeldVersion& held) {
  by_sequence_.erase(held.sequence);
  count(*held.version, false);
}

void Replica::count(const Version& version, bool added) {
  Usage& usage = usage_[version.dot.replica.cluster];
  usage.versions += added ? 1 : std::size_t(0) - 1;
  usage.bytes += added ? size_of(version) : std::size_t(0) - size_of(version);
  if (usage.versions == 0) usage_.erase(version.dot.replica.cluster);
}

void Replica::refused(const ObjectKey& key, const Dot& dot, const std::string& peer) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  for (HeldVersion& held : found->second) {
    if (held.version->dot == dot && held.refused_by.insert(peer).second) touched_.insert(key);
  }
}

void Replica::retry_refused(const std::string& peer) {
  for (auto& [key, held] : objects_) {
    for (HeldVersion& one : held) {
      if (one.refused_by.erase(peer) == 0) continue;
      touched_.insert(key);
      by_sequence_.erase(one.sequence);
      one.sequence = next_sequence();
      by_sequence_[one.sequence] = key;
    }
  }
}

std::vector<NamedDot> Replica::unsettled(const std::string& peer, std::size_t limit) const {
  std::vector<NamedDot> out;
  const Peer& settings = peers_.at(peer);
  for (const ObjectKey& key : deleted_) {
    for (const HeldVersion& held : objects_.at(key)) {
      if (out.size() == limit) return out;
      if (!held.settled_by.contains(peer) && is_known_by(held, peer, settings)) out.push_back({key, held.version->dot});
    }
  }
  return out;
}

bool Replica::waits_for(const HeldVersion& held, const std::string& cluster, const Peer& peer, bool and_settled) const {
  const PeerSettings& settings = peer.settings;
  const ObjectKey& key = held.version->key;
  if (peer.removed) return false;
  if (!settings.reads.covers(key) && !settings.shares.covers(key) && !settings.writes.covers(key)) return false;
  if (held.refused_by.contains(cluster)) return false;
  return peer.stale || !is_known_by(held, cluster, peer) || (and_settled && !held.settled_by.contains(cluster));
}

bool Replica::is_settled(const NamedDot& deletion) const {
  const auto* held = siblings(deletion.key);
  if (held == nullptr) return true;
  const auto one = std::ranges::find_if(*held, [&](const HeldVersion& h) { return h.version->dot == deletion.dot; });
  return one == held->end() || std::ranges::none_of(peers_, [&](const auto& entry) {
           return !entry.second.settings.suspended && waits_for(*one, entry.first, entry.second, false);
         });
}

void Replica::settle(const NamedDot& deletion, const std::string& peer) {
  const auto found = objects_.find(deletion.key);
  if (found == objects_.end()) return;
  for (HeldVersion& held : found->second) {
    if (held.version->dot == deletion.dot && held.version->deleted) held.settled_by.insert(peer);
  }
}

bool Replica::is_known_by(const HeldVersion& held, const std::string& cluster, const Peer& peer) const {
  if (held.refused_by.contains(cluster)) return false;
  return held.sequence <= peer.acknowledged || held.known_by.contains(cluster);
}

void Replica::forget_knowledge(const std::string& cluster) {
  for (auto& [key, held] : objects_) {
    for (HeldVersion& one : held) {
      if (one.known_by.erase(cluster) + one.refused_by.erase(cluster) > 0) touched_.insert(key);
      one.settled_by.erase(cluster);
    }
  }
}

std::size_t Replica::collect() {
  std::size_t collected = 0;
  for (auto key = deleted_.begin(); key != deleted_.end();) {
    const auto object = objects_.find(*key);
    bool seen = true;
    std::vector<Peer*> suspended;
    for (auto& [cluster, peer] : peers_) {
      const bool waits = std::ranges::any_of(
          object->second, [&](const HeldVersion& held) { return waits_for(held, cluster, peer, true); });
      if (!waits) continue;
      if (peer.settings.suspended) {
        suspended.push_back(&peer);
      } else {
        seen = false;
      }
    }
    if (!seen) {
      ++key;
      continue;
    }
    for (Peer* peer : suspended) peer->stale = true;
    for (const HeldVersion& held : object->second) take_out(held);
    touched_.insert(object->first);
    objects_.erase(object);
    key = deleted_.erase(key);
    ++collected;
  }
  return collected;
}

Replica::Batch Replica::batch(const std::string& cluster, const Peer& peer, std::uint64_t after,
                              std::size_t bytes) const {
  Batch batch{.versions = {}, .through = after};
  std::size_t size = 0;
  for (auto entry = by_sequence_.upper_bound(after); entry != by_sequence_.end(); ++entry) {
    const auto& held = objects_.at(entry->second);
    const auto one = std::ranges::find(held, entry->first, &HeldVersion::sequence);
    if (peer.settings.reads.covers(entry->second) && !one->known_by.contains(cluster)) {
      size += size_of(*one->version);
      if (size > bytes && !batch.versions.empty()) return batch;
      batch.versions.push_back(one->version);
    }
    batch.through = entry->first;
  }
  batch.through = std::max(batch.through, lives_.back().last);
  return batch;
}

}  // namespace edge::federation
