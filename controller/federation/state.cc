#include "controller/federation/state.h"

#include <algorithm>
#include <utility>

#include "controller/federation/wire.h"

namespace edge::federation {
namespace {

Error lost(const std::string& what) { return {ErrorCode::kDataLoss, "the federation's state: " + what}; }

}  // namespace

struct StateAccess {
  static void write(const Replica& replica, v1::State& out) {
    out.set_cluster(replica.id_.cluster);
    out.set_time(replica.clock_.last());
    federation::write(replica.lives_, *out.mutable_lives());
    for (const auto& [cluster, peer] : replica.peers_) {
      v1::StoredPeer& one = *out.add_peers();
      one.set_cluster(cluster);
      federation::write(peer.memory, *one.mutable_memory());
      one.set_acknowledged(peer.acknowledged);
      one.set_stale(peer.stale);
      one.set_resend(peer.resend);
      one.set_removed(peer.removed);
      for (const NamedDot& refused : peer.refused) federation::write(refused, *one.add_refused());
      one.set_refused_more(peer.refused_more);
      federation::write(peer.settings.reads, *one.mutable_reads());
    }
    for (const auto& [key, siblings] : replica.objects_) {
      for (const HeldVersion& held : siblings) {
        v1::StoredVersion& one = *out.add_versions();
        federation::write(*held.version, *one.mutable_version());
        one.set_sequence(held.sequence);
        for (const std::string& peer : held.known_by) one.add_known_by(peer);
        for (const std::string& peer : held.refused_by) one.add_refused_by(peer);
      }
    }
    for (const auto& [cluster, member] : replica.members_) federation::write(member, *out.add_members());
  }

  static Status read(const v1::State& in, Replica& replica) {
    auto lives = federation::read(in.lives());
    if (!lives || lives->empty()) return lost("its lives cannot be read");
    replica.lives_ = std::move(*lives);
    replica.id_.incarnation = replica.lives_.back().incarnation;
    replica.clock_ = HybridClock(in.time());
    for (const v1::StoredPeer& peer : in.peers()) {
      auto memory = federation::read(peer.memory());
      if (!memory) return lost("a peer cannot be read");
      auto reads = federation::read(peer.reads());
      if (!reads) return lost("what a peer is shown cannot be read");
      std::set<NamedDot> refused;
      for (const v1::NamedDot& stored : peer.refused()) {
        auto named = federation::read(stored);
        if (!named) return lost("a refusal cannot be read");
        refused.insert(std::move(*named));
      }
      replica.peers_[peer.cluster()] = {.settings = {.reads = std::move(*reads)},
                                        .memory = std::move(*memory),
                                        .acknowledged = peer.acknowledged(),
                                        .refused = std::move(refused),
                                        .refused_more = peer.refused_more(),
                                        .stale = peer.stale(),
                                        .removed = peer.removed(),
                                        .resend = peer.resend()};
    }
    for (const v1::StoredVersion& stored : in.versions()) {
      auto version = federation::read(stored.version());
      if (!version) return lost(version.error().text);
      const ObjectKey key = (*version)->key;
      if (!replica.by_sequence_.emplace(stored.sequence(), key).second) return lost("two versions of one number");
      replica.count(**version, true);
      replica.objects_[key].push_back({.version = std::move(*version),
                                       .sequence = stored.sequence(),
                                       .known_by = {stored.known_by().begin(), stored.known_by().end()},
                                       .refused_by = {stored.refused_by().begin(), stored.refused_by().end()}});
    }
    for (const auto& [key, siblings] : replica.objects_) {
      const bool deleted = std::ranges::all_of(siblings, [](const HeldVersion& held) { return held.version->deleted; });
      if (deleted) replica.deleted_.insert(key);
    }
    for (const v1::Member& member : in.members()) {
      auto one = federation::read(member);
      if (!one) return lost("a member cannot be read");
      replica.add_member(std::move(*one));
    }
    return {};
  }
};

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
