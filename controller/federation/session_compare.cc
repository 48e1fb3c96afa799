// The comparison of a session: roots, leaves, lists, and the versions that one side lacks. It only ever adds versions:
// what one side lacks because it was deleted there is answered with the deletion, or is not known there any more.
#include <algorithm>
#include <map>

#include "controller/federation/session.h"

namespace edge::federation {
namespace {

/// With the longest names, at most 512 KiB with the last object.
constexpr std::size_t kListedBytes = 400 << 10;

/// Of an object in a list, about.
std::size_t size_of(const HeldObject& object) {
  std::size_t size = object.key.kind.size() + object.key.name_space.size() + object.key.name.size() + 16;
  for (const Dot& dot : object.dots) size += dot.replica.cluster.size() + 32;
  return size;
}

}  // namespace

Status Session::on(const Digests& digests, std::int64_t /*now*/) {
  const Tree tree = digest_tree(*replica_, {record()->settings.reads, theirs_.offers});
  const Digests own = roots_of(tree);
  std::map<std::string, std::pair<std::string, std::string>> roots;
  for (const KindDigest& kind : own.kinds) roots[kind.kind].first = kind.root;
  for (const KindDigest& kind : digests.kinds) roots[kind.kind].second = kind.root;
  for (const auto& [kind, pair] : roots) {
    if (pair.first == pair.second) continue;
    const auto leaves = tree.find(kind);
    say(Leaves{kind, leaves == tree.end() ? std::vector<std::uint64_t>(kLeaves, 0) : leaves->second});
  }
  return {};
}

Status Session::on(const Leaves& leaves, std::int64_t /*now*/) {
  if (leaves.leaves.size() != kLeaves) return Error{ErrorCode::kInvalidArgument, "federation: leaves are 256"};
  const Tree tree = digest_tree(*replica_, {record()->settings.reads, theirs_.offers});
  const auto own = tree.find(leaves.kind);
  std::vector<std::uint32_t> different;
  for (std::uint32_t i = 0; i < kLeaves; ++i) {
    if (leaves.leaves[i] != (own == tree.end() ? 0 : own->second[i])) different.push_back(i);
  }
  facts_.differences += different.size();
  // A frame each for some of them, so that none exceeds its bound.
  constexpr std::size_t kLeavesInFrame = 8;
  for (std::size_t i = 0; i < different.size(); i += kLeavesInFrame) {
    const auto first = different.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last = different.begin() + static_cast<std::ptrdiff_t>(std::min(i + kLeavesInFrame, different.size()));
    send_listing(leaves.kind, {first, last}, false);
  }
  return {};
}

void Session::send_listing(const std::string& kind, const std::vector<std::uint32_t>& leaves, bool answer) {
  const SharedScope scope{record()->settings.reads, theirs_.offers};
  auto objects = list_leaves(*replica_, scope, kind, leaves);
  std::size_t bytes = 0;
  std::size_t fit = 0;
  while (fit < objects.size() && bytes < kListedBytes) bytes += size_of(objects[fit++]);
  if (fit < objects.size()) {
    // One leaf a frame, then; of a leaf with more the first ones, and the rest when these are alike.
    if (leaves.size() > 1) {
      for (const std::uint32_t leaf : leaves) send_listing(kind, {leaf}, answer);
      return;
    }
    objects.resize(fit);
  }
  say(Listing{kind, leaves, std::move(objects), answer});
}

Status Session::on(const Listing& listing, std::int64_t /*now*/) {
  if (!listing.answer) send_listing(listing.kind, listing.leaves, true);
  send_missing(listing);
  return {};
}

Status Session::on(const Settle& settle, std::int64_t /*now*/) {
  if (settle.answer) {
    for (const NamedDot& deletion : settle.deletions) replica_->settle(deletion, peer_);
    return {};
  }
  Settle answer{.deletions = {}, .answer = true};
  for (const NamedDot& deletion : settle.deletions) {
    if (replica_->is_settled(deletion)) answer.deletions.push_back(deletion);
  }
  say(std::move(answer));
  return {};
}

void Session::send_missing(const Listing& theirs) {
  // Not before everything was acknowledged in its order: what comes by this way does not count as processed, so that a
  // backup could bring it back.
  if (comparing_ || peer_stale_ || !in_flight_.empty() || sent_ != replica_->sequence()) return;
  std::map<ObjectKey, std::vector<Dot>> listed;
  for (const HeldObject& object : theirs.objects) listed[object.key] = object.dots;
  const Scope& reads = record()->settings.reads;
  std::vector<VersionPtr> missing;
  const auto add = [&](const ObjectKey& key, const std::vector<HeldVersion>& siblings, const std::vector<Dot>& dots) {
    for (const HeldVersion& held : siblings) {
      const bool has = std::ranges::find(dots, held.version->dot) != dots.end();
      if (!has && reads.covers(key) && !held.refused_by.contains(peer_)) missing.push_back(held.version);
    }
  };
  const SharedScope scope{reads, theirs_.offers};
  for (const HeldObject& own : list_leaves(*replica_, scope, theirs.kind, theirs.leaves)) {
    const auto found = listed.find(own.key);
    add(own.key, *replica_->siblings(own.key), found == listed.end() ? std::vector<Dot>{} : found->second);
    if (found != listed.end()) listed.erase(found);
  }
  // Deleted here, and there not.
  for (const auto& [key, dots] : listed) {
    if (const auto* siblings = replica_->siblings(key)) add(key, *siblings, dots);
  }
  send_versions(std::move(missing));
}

void Session::send_versions(std::vector<VersionPtr> versions) {
  Delta delta;
  std::size_t bytes = 0;
  for (VersionPtr& version : versions) {
    const std::size_t size = size_of(*version);
    if (bytes + size > options_.most_delta && !delta.versions.empty()) {
      say(std::exchange(delta, {}));
      bytes = 0;
    }
    bytes += size;
    ++facts_.sent_versions;
    delta.versions.push_back(std::move(version));
  }
  if (!delta.versions.empty()) say(std::move(delta));
}

}  // namespace edge::federation
