#include "controller/federation/state.h"

#include <algorithm>
#include <utility>

#include "controller/federation/state_access.h"

namespace edge::federation {
namespace {

Error lost(const std::string& what) { return {ErrorCode::kDataLoss, "the federation's state: " + what}; }

}  // namespace

void StateAccess::write_peer(const std::string& cluster, const Peer& peer, v1::StoredPeer& out) {
  out.set_cluster(cluster);
  federation::write(peer.memory, *out.mutable_memory());
  out.set_acknowledged(peer.acknowledged);
  out.set_stale(peer.stale);
  out.set_resend(peer.resend);
  out.set_removed(peer.removed);
  for (const NamedDot& refused : peer.refused) federation::write(refused, *out.add_refused());
  out.set_refused_more(peer.refused_more);
  federation::write(peer.settings.reads, *out.mutable_reads());
  out.set_name(peer.settings.name);
  out.set_hub(peer.settings.hub);
}

Status StateAccess::read_peer(const v1::StoredPeer& in, Replica& replica) {
  auto memory = federation::read(in.memory());
  if (!memory) return lost("a peer cannot be read");
  auto reads = federation::read(in.reads());
  if (!reads) return lost("what a peer is shown cannot be read");
  std::set<NamedDot> refused;
  for (const v1::NamedDot& stored : in.refused()) {
    auto named = federation::read(stored);
    if (!named) return lost("a refusal cannot be read");
    refused.insert(std::move(*named));
  }
  replica.peers_[in.cluster()] = {.settings = {.name = in.name(), .hub = in.hub(), .reads = std::move(*reads)},
                                  .memory = std::move(*memory),
                                  .acknowledged = in.acknowledged(),
                                  .refused = std::move(refused),
                                  .refused_more = in.refused_more(),
                                  .stale = in.stale(),
                                  .removed = in.removed(),
                                  .resend = in.resend()};
  return {};
}

void StateAccess::write_versions(const std::vector<HeldVersion>& siblings,
                                 google::protobuf::RepeatedPtrField<v1::StoredVersion>& out) {
  for (const HeldVersion& held : siblings) {
    v1::StoredVersion& one = *out.Add();
    federation::write(*held.version, *one.mutable_version());
    one.set_sequence(held.sequence);
    for (const std::string& peer : held.known_by) one.add_known_by(peer);
    for (const std::string& peer : held.refused_by) one.add_refused_by(peer);
    for (const std::string& peer : held.had_before) one.add_had_before(peer);
  }
}

Status StateAccess::read_versions(const ObjectKey& key, const google::protobuf::RepeatedPtrField<v1::StoredVersion>& in,
                                  Replica& replica) {
  if (const auto found = replica.objects_.find(key); found != replica.objects_.end()) {
    for (const HeldVersion& held : found->second) replica.take_out(held);
    replica.objects_.erase(found);
  }
  for (const v1::StoredVersion& stored : in) {
    auto version = federation::read(stored.version());
    if (!version) return lost(version.error().text);
    if ((*version)->key != key) return lost("a version of another object");
    if (!replica.by_sequence_.emplace(stored.sequence(), key).second) return lost("two versions of one number");
    replica.count(**version, true);
    replica.objects_[key].push_back({.version = std::move(*version),
                                     .sequence = stored.sequence(),
                                     .known_by = {stored.known_by().begin(), stored.known_by().end()},
                                     .refused_by = {stored.refused_by().begin(), stored.refused_by().end()},
                                     .settled_by = {},
                                     .had_before = {stored.had_before().begin(), stored.had_before().end()}});
  }
  return {};
}

void StateAccess::write_head(const Replica& replica, v1::Head& out) {
  out.set_cluster(replica.id_.cluster);
  federation::write(replica.lives_, *out.mutable_lives());
  out.set_time(replica.clock_.last());
  out.set_policy(static_cast<std::uint32_t>(replica.rules_.policy));
  out.set_hub(replica.rules_.hub);
}

Status StateAccess::read_head(const v1::Head& in, Replica& replica) {
  if (in.cluster() != replica.id_.cluster) return lost("it is of the cluster " + in.cluster());
  auto lives = federation::read(in.lives());
  if (!lives || lives->empty()) return lost("its lives cannot be read");
  replica.lives_ = std::move(*lives);
  replica.id_.incarnation = replica.lives_.back().incarnation;
  replica.clock_ = HybridClock(in.time());
  if (in.policy() > static_cast<std::uint32_t>(ConflictPolicy::kHubWins)) return lost("its policy is none");
  replica.rules_ = {.policy = static_cast<ConflictPolicy>(in.policy()), .hub = in.hub()};
  return {};
}

void StateAccess::finish(Replica& replica) {
  replica.deleted_.clear();
  for (const auto& [key, siblings] : replica.objects_) {
    const bool deleted = std::ranges::all_of(siblings, [](const HeldVersion& held) { return held.version->deleted; });
    if (deleted) replica.deleted_.insert(key);
  }
  replica.set_rules(replica.rules_);
  replica.touched_.clear();
}

void StateAccess::write(const Replica& replica, v1::State& out) {
  out.set_cluster(replica.id_.cluster);
  out.set_time(replica.clock_.last());
  federation::write(replica.lives_, *out.mutable_lives());
  for (const auto& [cluster, peer] : replica.peers_) write_peer(cluster, peer, *out.add_peers());
  for (const auto& [key, siblings] : replica.objects_) write_versions(siblings, *out.mutable_versions());
  for (const auto& [cluster, member] : replica.members_) federation::write(member, *out.add_members());
}

Status StateAccess::read(const v1::State& in, Replica& replica) {
  auto lives = federation::read(in.lives());
  if (!lives || lives->empty()) return lost("its lives cannot be read");
  replica.lives_ = std::move(*lives);
  replica.id_.incarnation = replica.lives_.back().incarnation;
  replica.clock_ = HybridClock(in.time());
  for (const v1::StoredPeer& peer : in.peers()) {
    if (const Status status = read_peer(peer, replica); !status) return status;
  }
  // They are stored by object.
  for (int first = 0; first < in.versions_size();) {
    auto version = federation::read(in.versions(first).version());
    if (!version) return lost(version.error().text);
    google::protobuf::RepeatedPtrField<v1::StoredVersion> siblings;
    int last = first;
    for (; last < in.versions_size(); ++last) {
      auto next = federation::read(in.versions(last).version());
      if (!next) return lost(next.error().text);
      if ((*next)->key != (*version)->key) break;
      *siblings.Add() = in.versions(last);
    }
    if (const Status status = read_versions((*version)->key, siblings, replica); !status) return status;
    first = last;
  }
  for (const v1::Member& member : in.members()) {
    auto one = federation::read(member);
    if (!one) return lost("a member cannot be read");
    replica.add_member(std::move(*one));
  }
  finish(replica);
  return {};
}

std::string encode_state(const Replica& replica) {
  v1::State out;
  StateAccess::write(replica, out);
  return out.SerializeAsString();
}

Result<Replica> decode_state(std::string_view bytes, const std::string& cluster, MergeRules rules,
                             Signatures signatures) {
  v1::State in;
  if (bytes.size() > INT32_MAX || !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return lost("it cannot be read");
  }
  if (in.cluster() != cluster) return lost("it is of the cluster " + in.cluster());
  Replica replica(cluster, {}, std::move(signatures));
  if (const Status status = StateAccess::read(in, replica); !status) return status.error();
  replica.set_rules(std::move(rules));
  return replica;
}

}  // namespace edge::federation
