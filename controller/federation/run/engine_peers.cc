// Peers: what they are granted, and the sessions with them.
#include <algorithm>
#include <utility>

#include "base/resource_id.h"
#include "controller/federation/run/engine.h"

namespace edge::federation {
namespace {

/// Of one peer: until they are processed no further one is read.
constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
/// UIDs of one EdgeRemoteCluster, each of which was another cluster: a federation has few.
constexpr std::ptrdiff_t kMostOfName = 8;
/// How the hub is called in the origin label, and where names are shown.
constexpr std::string_view kHubName = "hub";

bool same_settings(const PeerSettings& a, const PeerSettings& b) {
  return a == b && a.quota.objects == b.quota.objects && a.quota.bytes == b.quota.bytes;
}

}  // namespace

void Engine::set_peers(std::vector<PeerSpec> peers) {
  // Of two objects of one name the older one holds it, as for connections.
  std::ranges::stable_sort(peers, {}, [](const PeerSpec& spec) { return std::pair(spec.created, spec.object); });
  if (peers == specs_) return;
  specs_ = std::move(peers);
  for (const PeerSpec& spec : specs_) {
    if (!spec.enabled || !spec.hub.empty()) continue;
    policy_ = spec.policy;
    break;
  }
  if (!runs()) return waiter_.wake_later();
  apply_specs();
  work_soon();
}

const PeerSpec* Engine::spec_of(const controller::remote::TunnelPeer& peer) const {
  const auto found = std::ranges::find_if(specs_, [&](const PeerSpec& spec) {
    return peer.is_hub ? spec.hub == peer.name : spec.hub.empty() && spec.name == peer.name;
  });
  return found == specs_.end() ? nullptr : &*found;
}

const PeerSpec* Engine::spec_of(const std::string& cluster, const Peer& peer) const {
  if (const auto connection = connections_.find(cluster); connection != connections_.end()) {
    return spec_of(connection->second.peer);
  }
  return spec_of(controller::remote::TunnelPeer{peer.settings.name, cluster, peer.settings.hub});
}

/// Null: this cluster has none. A federation has one policy and one set of members, and these are its hub's: of several
/// hubs the one of the flags, or else of the oldest object, counts.
const PeerSpec* Engine::own_hub() const {
  const auto found =
      std::ranges::find_if(specs_, [](const PeerSpec& spec) { return spec.enabled && !spec.hub.empty(); });
  return found == specs_.end() ? nullptr : &*found;
}

std::string Engine::another_hub() const { return "this cluster federates over one hub, and that is " + own_hub()->hub; }

bool Engine::takes_part(const PeerSpec& spec) const { return spec.enabled && (spec.hub.empty() || &spec == own_hub()); }

PeerSettings Engine::settings_of(const PeerSpec& spec) const {
  return {.name = spec.hub.empty() ? spec.name : spec.hub,
          .hub = !spec.hub.empty(),
          .suspended = spec.suspended,
          .reads = spec.reads,
          .shares = spec.shares,
          .writes = spec.writes,
          .quota = spec.quota};
}

/// Grants, kinds and rules as they are named now. A session says at its beginning what is shown and taken: where that
/// is another it begins anew.
void Engine::apply_specs() {
  Replica& replica = state_->replica;
  std::set<std::string> kinds;
  bool is_hub = false;
  for (const PeerSpec& spec : specs_) {
    if (!takes_part(spec)) continue;
    is_hub = is_hub || spec.hub.empty();
    for (const Scope* scope : {&spec.reads, &spec.shares, &spec.writes}) {
      if (!scope->nothing) kinds.insert(scope->kinds.begin(), scope->kinds.end());
    }
  }
  api_->set_kinds(kinds);
  for (const std::string& kind : kinds) mark_all(kind, false);
  // A cluster with a hub has the hub's rules.
  const bool has_hub = own_hub() != nullptr;
  const MergeRules& rules = replica.rules();
  bool anew = false;
  if (is_hub && !has_hub && (rules.policy != policy_ || rules.hub != options_.cluster_uid)) {
    replica.set_rules({.policy = policy_, .hub = options_.cluster_uid});
    for (const auto& [key, siblings] : replica.objects()) {
      if (siblings.size() > 1) dirty_.insert(key);
    }
    anew = true;
  }
  std::vector<std::string> removed;
  for (const auto& [cluster, peer] : replica.peers()) {
    if (peer.removed) continue;
    const PeerSpec* const spec = spec_of(cluster, peer);
    if (spec == nullptr || !takes_part(*spec)) {
      removed.push_back(cluster);
      continue;
    }
    const PeerSettings settings = settings_of(*spec);
    const bool same = same_settings(settings, peer.settings);
    if (!same) replica.set_peer(cluster, settings);
    const auto connection = connections_.find(cluster);
    if ((!same || anew) && connection != connections_.end()) {
      drop(connection->second, {ErrorCode::kAborted, "what is federated is another now"});
    }
  }
  for (const std::string& cluster : removed) {
    replica.remove_peer(cluster);
    if (const auto connection = connections_.find(cluster); connection != connections_.end()) {
      drop(connection->second, {ErrorCode::kFailedPrecondition, "the cluster is not federated with any more"});
    }
  }
  // Those that came before they were named.
  for (auto& [cluster, connection] : connections_) {
    if (connection.session == nullptr && !connection.over) begin_session(connection);
  }
}

void Engine::opened(const controller::remote::TunnelPeer& peer) {
  if (const auto before = connections_.find(peer.cluster_uid); before != connections_.end()) closed(peer.cluster_uid);
  Connection& connection = connections_[peer.cluster_uid];
  connection.peer = peer;
  PeerCounts& counts = counts_[peer.cluster_uid];
  counts.since = wall();
  if (!runs()) return;
  begin_session(connection);
  work_soon();
}

void Engine::closed(const std::string& cluster) {
  const auto found = connections_.find(cluster);
  if (found == connections_.end()) return;
  count(found->second);
  for (IncomingFrame& frame : found->second.in) {
    if (frame.done) frame.done(Error{ErrorCode::kAborted, "the connection is over"});
  }
  connections_.erase(found);
  // Of whoever is no peer nothing is kept.
  if (runs() && state_->replica.peer(cluster) != nullptr) {
    counts_[cluster].since = wall();
  } else {
    counts_.erase(cluster);
  }
}

void Engine::received(const std::string& cluster, std::string frame, std::function<void(Status)> done) {
  const auto found = connections_.find(cluster);
  if (found == connections_.end() || found->second.over) {
    return done(Error{ErrorCode::kAborted, "the connection is over"});
  }
  Connection& connection = found->second;
  counts_[cluster].received_bytes += frame.size();
  connection.in_bytes += frame.size();
  // A cluster that is not federated with says its first word, and waits.
  if (connection.session != nullptr && connection.in_bytes <= kMostWaiting) {
    done({});
    done = nullptr;
  }
  connection.in.push_back({std::move(frame), std::move(done)});
  work_soon();
}

void Engine::begin_session(Connection& connection) {
  if (connection.over || connection.session != nullptr) return;
  const std::string& cluster = connection.peer.cluster_uid;
  const PeerSpec* const spec = spec_of(connection.peer);
  PeerCounts& counts = counts_[cluster];
  if (spec == nullptr || !spec->enabled) {
    counts.fault = "it is not federated with";
    return;
  }
  if (!takes_part(*spec)) {
    counts.fault = another_hub();
    return;
  }
  Replica& replica = state_->replica;
  // A name belongs to one cluster: whoever takes another one's UID is not let in, and who has a new one is another.
  const auto member = replica.members().find(cluster);
  if (!connection.peer.is_hub && member != replica.members().end() && !member->second.name.empty() &&
      member->second.name != spec->name) {
    return drop(connection, {ErrorCode::kPermissionDenied,
                             "the UID is that of the cluster " + member->second.name +
                                 ", and federates by that name alone: add it by that (edgectl cluster add), or have it "
                                 "begin with a new data directory"});
  }
  std::vector<std::string> before;
  for (const auto& [other, peer] : replica.peers()) {
    if (other != cluster && !peer.removed && spec_of(other, peer) == spec) before.push_back(other);
  }
  for (const std::string& other : before) replica.remove_peer(other);
  const PeerSettings settings = settings_of(*spec);
  const Peer* const known = replica.peer(cluster);
  if (known == nullptr || !same_settings(known->settings, settings)) replica.set_peer(cluster, settings);
  counts.fault.clear();
  connection.counted = {};
  connection.session = std::make_unique<Session>(
      replica, cluster, SessionOptions{.sync_interval = spec->sync_interval.count()}, steady());
  for (IncomingFrame& frame : connection.in) {
    if (frame.done) std::exchange(frame.done, nullptr)({});
  }
}

void Engine::take_frames() {
  for (auto& [cluster, connection] : connections_) {
    while (connection.session != nullptr && !connection.in.empty()) {
      IncomingFrame frame = std::move(connection.in.front());
      connection.in.pop_front();
      connection.in_bytes -= frame.bytes.size();
      if (const Status status = take_frame(connection, frame.bytes); !status) {
        options_.log.warn("the federation with " + name_of(cluster) + " is broken off",
                          {{"reason", status.error().text}});
        if (frame.done) frame.done(status);
        drop(connection, status.error());
        break;
      }
      if (frame.done) frame.done({});
    }
  }
}

Status Engine::take_frame(Connection& connection, const std::string& bytes) {
  auto frame = decode_frame(bytes);
  if (!frame) return frame.error();
  if (const auto* hello = std::get_if<Hello>(&frame->body)) {
    if (Status status = take_hello(connection, *hello); !status) return status;
  } else if (const auto* ack = std::get_if<Ack>(&frame->body)) {
    take_refusals(connection, *ack);
  } else if (std::holds_alternative<Digests>(frame->body)) {
    counts_[connection.peer.cluster_uid].last_comparison = wall();
  }
  if (Status status = connection.session->receive(std::move(*frame), wall()); !status) return status;
  learn_keys();
  return {};
}

/// The first key that a cluster shows is its key: another one is somebody else.
Status Engine::take_hello(const Connection& connection, const Hello& hello) {
  const std::string& cluster = connection.peer.cluster_uid;
  if (hello.replica.cluster != cluster) return Error{ErrorCode::kInvalidArgument, "the greeting is another cluster's"};
  Replica& replica = state_->replica;
  const auto known = replica.members().find(cluster);
  if (known != replica.members().end() && known->second.public_key != hello.public_key) {
    return Error{ErrorCode::kUnauthenticated, "the cluster signs with another key than before"};
  }
  if (!program::VerifyKey::from_pem(hello.public_key)) {
    return Error{ErrorCode::kUnauthenticated, "the greeting has no key that can be read"};
  }
  const PeerSpec* const spec = spec_of(connection.peer);
  const auto of_name = std::ranges::count_if(
      replica.members(), [&](const auto& member) { return spec != nullptr && member.second.name == spec->name; });
  if (known == replica.members().end() && !connection.peer.is_hub && of_name >= kMostOfName) {
    return Error{ErrorCode::kResourceExhausted,
                 "the name was that of eight other clusters before: add the cluster by another (edgectl cluster add)"};
  }
  const std::string name = connection.peer.is_hub || spec == nullptr ? std::string(kHubName) : spec->name;
  replica.add_member({.cluster = cluster, .name = name, .public_key = hello.public_key});
  if (!replica.members().contains(cluster)) {
    return Error{ErrorCode::kResourceExhausted, "a federation has at most 512 clusters"};
  }
  if (!connection.peer.is_hub || hello.policy == 0) return {};
  const MergeRules rules{.policy = static_cast<ConflictPolicy>(hello.policy - 1), .hub = cluster};
  if (rules.policy == replica.rules().policy && rules.hub == replica.rules().hub) return {};
  replica.set_rules(rules);
  for (const auto& [key, siblings] : replica.objects()) {
    if (siblings.size() > 1) dirty_.insert(key);
  }
  return {};
}

void Engine::take_refusals(const Connection& connection, const Ack& ack) {
  for (const Refused& refused : ack.refusals) {
    ++counts_[connection.peer.cluster_uid].refused_by_peer[refused.reason];
    if (refused_told_.size() >= Replica::kMostRefused) refused_told_.clear();
    if (!refused_told_.insert({refused.key, refused.dot}).second) continue;
    tell_event(event_tokens_, refused.key, kube::EventLevel::kWarning, "FederationRefused",
               name_of(connection.peer.cluster_uid) + " does not take this version: " +
                   std::string(text_of(refused.reason)) + "; other clusters keep what they have");
  }
}

/// Of what a peer sent. Its events have tokens of their own: a peer that floods keeps no other event away.
void Engine::tell_refusals(const std::string& cluster, const Ack& ack) {
  for (const Refused& refused : ack.refusals) {
    ++counts_[cluster].refused[refused.reason];
    tell_event(refusal_tokens_, refused.key, kube::EventLevel::kWarning, "FederationRefused",
               "a version that " + name_of(cluster) + " sent is not taken: " + std::string(text_of(refused.reason)));
  }
}

void Engine::learn_keys() {
  const Replica& replica = state_->replica;
  if (std::exchange(keys_version_, replica.members_version()) == replica.members_version()) return;
  for (const auto& [cluster, member] : replica.members()) {
    if (cluster == options_.cluster_uid) continue;
    if (Status status = keys_->add(cluster, member.public_key); !status) {
      options_.log.warn("the key of cluster " + member.name + " cannot be read: " + status.error().text);
    }
  }
}

void Engine::send_frames() {
  std::vector<std::string> broken;
  for (auto& [cluster, connection] : connections_) {
    if (connection.session == nullptr) continue;
    // What a slow peer has not taken yet waits, and nothing is added to it.
    if (connection.out.empty()) {
      for (Frame& frame : connection.session->take(steady())) {
        if (auto* hello = std::get_if<Hello>(&frame.body)) {
          const bool is_hub = !connection.peer.is_hub;
          hello->policy = is_hub ? 1 + static_cast<std::uint32_t>(policy_) : 0;
          hello->public_key = options_.key.public_pem();
        } else if (const auto* ack = std::get_if<Ack>(&frame.body)) {
          tell_refusals(cluster, *ack);
        } else if (std::holds_alternative<Digests>(frame.body)) {
          counts_[cluster].last_comparison = wall();
        }
        connection.out.push_back(encode(frame));
      }
    }
    while (!connection.out.empty() && options_.tunnels->send(cluster, connection.out.front())) {
      counts_[cluster].sent_bytes += connection.out.front().size();
      connection.out.pop_front();
    }
    count(connection);
  }
}

/// Adds what the session has counted since the last time.
void Engine::count(Connection& connection) {
  if (connection.session == nullptr) return;
  const std::string& cluster = connection.peer.cluster_uid;
  PeerCounts& counts = counts_[cluster];
  const SessionFacts facts = connection.session->facts();
  const SessionFacts& before = connection.counted;
  counts.sent_versions += facts.sent_versions - before.sent_versions;
  counts.received_versions += facts.received_versions - before.received_versions;
  counts.comparisons += facts.comparisons - before.comparisons;
  counts.differences += facts.differences - before.differences;
  connection.counted = facts;
}

void Engine::look_who_is_behind() {
  const std::uint64_t sequence = state_->replica.sequence();
  for (const auto& [cluster, peer] : state_->replica.peers()) {
    if (peer.removed) continue;
    PeerCounts& counts = counts_[cluster];
    if (peer.acknowledged >= sequence) {
      counts.behind_since = 0;
    } else if (counts.behind_since == 0 || peer.acknowledged >= counts.behind_through) {
      counts.behind_since = steady();
      counts.behind_through = sequence;
    }
  }
}

/// Ends the tunnel. A spoke opens it again.
void Engine::drop(Connection& connection, const Error& why) {
  if (std::exchange(connection.over, true)) return;
  count(connection);
  connection.session.reset();
  connection.out.clear();
  for (IncomingFrame& frame : connection.in) {
    if (frame.done) frame.done(why);
  }
  connection.in.clear();
  counts_[connection.peer.cluster_uid].fault = why.text;
  options_.tunnels->end(connection.peer.cluster_uid, why);
}

std::string Engine::name_of(const std::string& cluster) const {
  if (runs()) {
    const auto member = state_->replica.members().find(cluster);
    if (member != state_->replica.members().end() && is_cluster_name(member->second.name)) return member->second.name;
  }
  return cluster;
}

}  // namespace edge::federation
