#include "controller/federation/session.h"

#include <algorithm>

#include "controller/federation/lineage.h"

namespace edge::federation {
namespace {

constexpr std::size_t kSettledInFrame = 512;
constexpr std::size_t kMostEarly = 256;

Error protocol_error(const std::string& what) { return {ErrorCode::kInvalidArgument, "federation: " + what}; }

}  // namespace

Session::Session(Replica& replica, std::string peer, SessionOptions options, std::int64_t now)
    : replica_(&replica), peer_(std::move(peer)), options_(options), next_comparison_(now + options.sync_interval) {
  const Peer& known = *record();
  Scope accepts = known.settings.shares;
  // What it may write anyway it may offer as well; a scope is a product, so the wider of both is asked for.
  if (!known.settings.writes.nothing) accepts = known.settings.writes;
  say(Hello{.protocol = kProtocol,
            .replica = replica.id(),
            .lives = replica.lives(),
            .memory = known.memory,
            .offers = known.settings.reads,
            .accepts = std::move(accepts)});
}

Status Session::receive(Frame frame, std::int64_t now) {
  if (record() == nullptr) return Error{ErrorCode::kFailedPrecondition, "the cluster is no longer a peer"};
  if (frame.number <= heard_) return {};
  if (frame.number != heard_ + 1) {
    if (early_.size() >= kMostEarly) return protocol_error("frames are missing");
    early_.emplace(frame.number, std::move(frame));
    return {};
  }
  while (true) {
    heard_ = frame.number;
    if (const Status status = process(frame, now); !status) return status;
    const auto next = early_.find(heard_ + 1);
    if (next == early_.end()) return {};
    frame = std::move(next->second);
    early_.erase(next);
  }
}

Status Session::process(Frame& frame, std::int64_t now) {
  const bool is_hello = std::holds_alternative<Hello>(frame.body);
  const bool is_resume = std::holds_alternative<Resume>(frame.body);
  if (is_hello == greeted_) return protocol_error("a greeting that is missing, or one too many");
  if (!is_hello && is_resume == resumed_)
    return protocol_error("what comes after the greeting is missing, or there twice");
  return std::visit([&](const auto& body) { return on(body, now); }, frame.body);
}

Status Session::on(const Hello& hello, std::int64_t /*now*/) {
  if (hello.replica.cluster != peer_) return protocol_error("the greeting is another cluster's than the certificate");
  if (hello.protocol == 0) return protocol_error("a greeting without a protocol");
  greeted_ = true;
  theirs_ = hello;
  Peer& peer = *record();
  const Common ours = common_of(hello.lives, peer.memory);
  const Common known_to_it = common_of(replica_->lives(), hello.memory);
  // It has lost what it had acknowledged.
  const bool lost = known_to_it.through < peer.acknowledged && !known_to_it.regressed;
  if (ours.regressed || lost) peer.stale = true;
  peer_stale_ = peer.stale;
  peer.memory = remembered(hello.lives, ours.through);
  say(Resume{.processed = ours.through,
             .stale = peer_stale_,
             .refused = {peer.refused.begin(), peer.refused.end()},
             .uncertain = peer.refused_more});
  return {};
}

Status Session::on(const Resume& resume, std::int64_t /*now*/) {
  resumed_ = true;
  Peer& peer = *record();
  if (resume.processed > replica_->sequence()) return protocol_error("the peer has more of this state than there is");
  for (const NamedDot& refused : resume.refused) replica_->refused(refused.key, refused.dot, peer_);
  if (resume.stale && !peer_stale_ && !resume.uncertain) {
    begin_comparing(theirs_, resume.processed);
    // What it is known to have had is not sent: it may be what was deleted.
    peer.acknowledged = std::max(peer.acknowledged, resume.processed);
  } else {
    peer.acknowledged = resume.processed;
  }
  if (peer_stale_) {
    replica_->forget_knowledge(peer_);
    peer.acknowledged = 0;
    list_sent_ = false;
    list_through_ = replica_->sequence();
  }
  if (peer.resend) {
    peer.acknowledged = 0;
    resending_ = true;
    list_through_ = replica_->sequence();
  }
  sent_ = peer.acknowledged;
  replica_->retry_refused(peer_);
  return {};
}

void Session::begin_comparing(const Hello& theirs, std::uint64_t processed) {
  Peer known = *record();
  known.acknowledged = std::max(known.acknowledged, processed);
  comparing_ = true;
  for (const auto& [key, siblings] : replica_->objects()) {
    if (!theirs.offers.covers(key) || !theirs.accepts.covers(key)) continue;
    const bool deleted = std::ranges::all_of(siblings, [](const HeldVersion& held) { return held.version->deleted; });
    if (deleted) continue;
    for (const HeldVersion& held : siblings) {
      if (replica_->is_known_by(held, peer_, known)) unlisted_.emplace(key, held.version->dot);
    }
  }
}

Status Session::end_comparing(std::int64_t now) {
  comparing_ = false;
  for (auto first = unlisted_.begin(); first != unlisted_.end();) {
    std::vector<Dot> gone;
    auto last = first;
    for (; last != unlisted_.end() && last->first == first->first; ++last) gone.push_back(last->second);
    const std::uint64_t before = replica_->sequence();
    if (const Status status = replica_->retire(first->first, gone, now); !status) return status;
    facts_.retired += replica_->sequence() != before;
    first = last;
  }
  unlisted_.clear();
  if (const Status status = remember_deletions(now); !status) return status;
  // It remembers nothing of what was not sent again.
  say(Delta{.versions = {}, .through = sent_, .listed = false});
  return {};
}

/// What was changed here, of which the peer had an earlier version and now has none, was deleted there.
Status Session::remember_deletions(std::int64_t now) {
  std::vector<ObjectKey> deleted;
  for (const auto& [key, siblings] : replica_->objects()) {
    if (listed_.contains(key) || !theirs_.offers.covers(key) || !theirs_.accepts.covers(key)) continue;
    const bool unknown = std::ranges::none_of(
        siblings, [&](const HeldVersion& held) { return replica_->is_known_by(held, peer_, *record()); });
    const bool had = std::ranges::any_of(siblings, [&](const HeldVersion& held) {
      return held.version == siblings.front().version && !held.version->deleted && held.had_before.contains(peer_);
    });
    if (unknown && had) deleted.push_back(key);
  }
  listed_.clear();
  for (const ObjectKey& key : deleted) {
    if (const Status status = replica_->remember_deletion(key, now); !status) return status;
  }
  return {};
}

Status Session::on(const Members& members, std::int64_t /*now*/) {
  if (!record()->settings.hub) return {};
  for (const Member& member : members.members) {
    // Its own key and the hub's come from the handshake, not from the hub's list.
    if (member.cluster != replica_->id().cluster && member.cluster != peer_) replica_->add_member(member);
  }
  return {};
}

Status Session::on(const Delta& delta, std::int64_t now) {
  Ack ack{.through = delta.through};
  // Who sends has persisted what it was told at the beginning.
  if (!std::exchange(heard_delta_, true)) {
    record()->refused.clear();
    record()->refused_more = false;
  }
  for (const VersionPtr& version : delta.versions) {
    ++facts_.received_versions;
    unlisted_.erase({version->key, version->dot});
    if (comparing_) listed_.insert(version->key);
    const Received received = replica_->receive(version, peer_);
    if (received.refusal == Refusal::kNone) continue;
    ++facts_.refused_versions;
    ack.refusals.push_back({version->key, version->dot, received.refusal});
  }
  if (delta.through > 0) record()->memory = remembered(theirs_.lives, delta.through);
  if (delta.listed && comparing_) {
    if (const Status status = end_comparing(now); !status) return status;
    ack.listed = true;
  }
  if (delta.through > 0 || delta.listed || !ack.refusals.empty()) say(std::move(ack));
  return {};
}

Status Session::on(const Ack& ack, std::int64_t /*now*/) {
  Peer& peer = *record();
  if (ack.through > sent_) return protocol_error("an acknowledgement of what was not sent");
  // Marked first: deletions are collected by what was acknowledged.
  for (const Refused& refused : ack.refusals) {
    ++facts_.refused_by_peer;
    replica_->refused(refused.key, refused.dot, peer_);
  }
  peer.acknowledged = std::max(peer.acknowledged, ack.through);
  while (!in_flight_.empty() && in_flight_.begin()->first <= ack.through) {
    bytes_in_flight_ -= in_flight_.begin()->second;
    in_flight_.erase(in_flight_.begin());
  }
  if (resending_ && ack.through >= list_through_) peer.resend = resending_ = false;
  if (ack.listed && list_sent_) {
    peer.stale = false;
    peer_stale_ = false;
  }
  return {};
}

std::vector<Frame> Session::take(std::int64_t now) {
  if (ready() && record() != nullptr) {
    send_deltas();
    const bool quiet = in_flight_.empty() && !comparing_ && !peer_stale_ && sent_ == replica_->sequence();
    if (quiet && now >= next_comparison_) {
      next_comparison_ = now + options_.sync_interval;
      ++facts_.comparisons;
      say(roots_of(digest_tree(*replica_, {record()->settings.reads, theirs_.offers})));
      auto deletions = replica_->unsettled(peer_, kSettledInFrame);
      if (!deletions.empty()) say(Settle{.deletions = std::move(deletions), .answer = false});
    }
  }
  return std::exchange(out_, {});
}

void Session::send_deltas() {
  if (!record()->settings.hub && members_sent_ != replica_->members_version()) {
    members_sent_ = replica_->members_version();
    Members members;
    for (const auto& [cluster, member] : replica_->members()) members.members.push_back(member);
    say(std::move(members));
  }
  while (bytes_in_flight_ < options_.most_in_flight) {
    if (sent_ >= replica_->sequence() && list_sent_) return;
    auto batch = replica_->batch(peer_, *record(), sent_, options_.most_delta);
    std::size_t bytes = 0;
    for (const VersionPtr& version : batch.versions) bytes += size_of(*version);
    facts_.sent_versions += batch.versions.size();
    const bool listed = !list_sent_ && batch.through >= list_through_;
    if (listed) list_sent_ = true;
    sent_ = batch.through;
    in_flight_[sent_] += bytes;
    bytes_in_flight_ += bytes;
    say(Delta{.versions = std::move(batch.versions), .through = sent_, .listed = listed});
  }
}

SessionFacts Session::facts() const {
  SessionFacts facts = facts_;
  facts.greeted = ready();
  facts.comparing = comparing_;
  const auto& peers = replica_->peers();
  if (const auto peer = peers.find(peer_); peer != peers.end()) {
    facts.lag = replica_->sequence() - std::min(replica_->sequence(), peer->second.acknowledged);
  }
  facts.synchronized = facts.greeted && !comparing_ && facts.lag == 0;
  return facts;
}

}  // namespace edge::federation
