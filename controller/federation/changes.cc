#include "controller/federation/changes.h"

#include <utility>

#include "base/hash.h"
#include "controller/federation/state_access.h"

namespace edge::federation {
namespace {

constexpr std::size_t kPiece = 256 << 10;
constexpr std::uint64_t kSeed = 0xfede7a7e;

Error no_record(const std::string& what) {
  return {ErrorCode::kDataLoss, "a record of the federation's state: " + what};
}

void write_applied(const ClusterState& state, const ObjectKey& key, v1::StoredApplied& out) {
  write(key, *out.mutable_key());
  if (const auto record = state.records.find(key); record != state.records.end()) {
    out.set_echo(record->second.echo);
    out.set_uid(record->second.uid);
    out.set_generation(record->second.generation);
  }
  const auto found = state.applied.find(key);
  if (found == state.applied.end()) return;
  if (const auto* siblings = state.replica.siblings(key)) {
    for (const HeldVersion& held : *siblings) {
      if (held.version == found->second) return write(held.version->dot, *out.mutable_dot());
    }
  }
  write(*found->second, *out.mutable_version());
}

Status read_applied(const v1::StoredApplied& in, ClusterState& state) {
  auto key = read(in.key());
  if (!key) return no_record(key.error().text);
  state.applied.erase(*key);
  state.records.erase(*key);
  if (in.has_dot()) {
    auto dot = read(in.dot());
    if (!dot) return no_record(dot.error().text);
    const auto* siblings = state.replica.siblings(*key);
    VersionPtr found;
    for (std::size_t i = 0; siblings != nullptr && i < siblings->size(); ++i) {
      if ((*siblings)[i].version->dot == *dot) found = (*siblings)[i].version;
    }
    if (found == nullptr) return no_record("the API's version is not among the object's");
    state.applied[*key] = std::move(found);
  } else if (in.has_version()) {
    auto version = read(in.version());
    if (!version) return no_record(version.error().text);
    state.applied[*key] = std::move(*version);
  }
  if (in.echo().empty() && in.uid().empty() && in.generation() == 0) return {};
  state.records[std::move(*key)] = {.echo = in.echo(), .uid = in.uid(), .generation = in.generation()};
  return {};
}

/// Of what must not be lost though nothing else changes: lives and rules.
std::uint64_t hash_of_head(const v1::Head& head) {
  v1::Head part = head;
  part.clear_time();
  part.clear_api_versions();
  for (v1::Life& life : *part.mutable_lives()) life.clear_last();
  return hash_bytes(kSeed, part.SerializeAsString());
}

void write_head(const ClusterState& state, v1::Head& out) {
  StateAccess::write_head(state.replica, out);
  for (const auto& [kind, version] : state.api_versions) (*out.mutable_api_versions())[kind] = version;
}

}  // namespace

std::string ChangeRecords::take(ClusterState& state) {
  v1::Changes out;
  write_head(state, *out.mutable_head());
  const std::uint64_t head = hash_of_head(out.head());
  bool any = std::exchange(head_, head) != head;
  for (const auto& [cluster, peer] : state.replica.peers()) {
    v1::StoredPeer one;
    StateAccess::write_peer(cluster, peer, one);
    const std::uint64_t hash = hash_bytes(kSeed, one.SerializeAsString());
    if (std::exchange(peers_[cluster], hash) == hash) continue;
    *out.add_peers() = std::move(one);
    any = true;
  }
  if (std::exchange(members_, state.replica.members_version()) != state.replica.members_version()) {
    for (const auto& [cluster, member] : state.replica.members()) write(member, *out.add_members());
    any = true;
  }
  // A version that is no sibling any more may still be what the API has.
  std::set<ObjectKey> applied = std::exchange(state.touched, {});
  for (const ObjectKey& key : state.replica.take_touched()) {
    v1::StoredObject& object = *out.add_objects();
    write(key, *object.mutable_key());
    if (const auto* siblings = state.replica.siblings(key))
      StateAccess::write_versions(*siblings, *object.mutable_versions());
    applied.insert(key);
    any = true;
  }
  for (const ObjectKey& key : applied) {
    write_applied(state, key, *out.add_applied());
    any = true;
  }
  return any ? out.SerializeAsString() : std::string();
}

Status ChangeRecords::dump(ClusterState& state, const std::function<Status(const std::string& record)>& each) {
  *this = {};
  state.touched.clear();
  state.replica.take_touched();
  v1::Changes first;
  write_head(state, *first.mutable_head());
  head_ = hash_of_head(first.head());
  members_ = state.replica.members_version();
  for (const auto& [cluster, member] : state.replica.members()) write(member, *first.add_members());
  for (const auto& [cluster, peer] : state.replica.peers()) {
    v1::StoredPeer& one = *first.add_peers();
    StateAccess::write_peer(cluster, peer, one);
    peers_[cluster] = hash_bytes(kSeed, one.SerializeAsString());
  }
  if (Status status = each(first.SerializeAsString()); !status) return status;

  v1::Changes piece;
  std::size_t bytes = 0;
  const auto flush = [&]() -> Status {
    if (bytes == 0) return {};
    bytes = 0;
    return each(std::exchange(piece, {}).SerializeAsString());
  };
  for (const auto& [key, siblings] : state.replica.objects()) {
    v1::StoredObject& object = *piece.add_objects();
    write(key, *object.mutable_key());
    StateAccess::write_versions(siblings, *object.mutable_versions());
    for (const HeldVersion& held : siblings) bytes += size_of(*held.version);
    if (state.applied.contains(key) || state.records.contains(key)) write_applied(state, key, *piece.add_applied());
    if (bytes < kPiece) continue;
    if (Status status = flush(); !status) return status;
  }
  const auto without_versions = [&](const ObjectKey& key) {
    if (state.replica.siblings(key) != nullptr) return;
    write_applied(state, key, *piece.add_applied());
    ++bytes;
  };
  for (const auto& [key, version] : state.applied) without_versions(key);
  for (const auto& [key, record] : state.records) {
    if (!state.applied.contains(key)) without_versions(key);
  }
  return flush();
}

Status apply_record(std::string_view record, ClusterState& state) {
  v1::Changes in;
  if (record.size() > INT32_MAX || !in.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    return no_record("it cannot be read");
  }
  if (in.has_head()) {
    if (Status status = StateAccess::read_head(in.head(), state.replica); !status) return status;
    state.api_versions = {in.head().api_versions().begin(), in.head().api_versions().end()};
  }
  for (const v1::StoredPeer& peer : in.peers()) {
    if (Status status = StateAccess::read_peer(peer, state.replica); !status) return status;
  }
  for (const v1::Member& member : in.members()) {
    auto one = read(member);
    if (!one) return no_record("a member cannot be read");
    state.replica.add_member(std::move(*one));
  }
  for (const v1::StoredObject& object : in.objects()) {
    auto key = read(object.key());
    if (!key) return no_record(key.error().text);
    if (Status status = StateAccess::read_versions(*key, object.versions(), state.replica); !status) return status;
  }
  for (const v1::StoredApplied& applied : in.applied()) {
    if (Status status = read_applied(applied, state); !status) return status;
  }
  return {};
}

void finish_reading(ClusterState& state) {
  StateAccess::finish(state.replica);
  state.touched.clear();
}

}  // namespace edge::federation
