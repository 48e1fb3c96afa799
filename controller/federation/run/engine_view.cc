// What people are shown (view.h).
#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/resource_id.h"
#include "base/text/json.h"
#include "controller/federation/run/engine.h"

namespace edge::federation {
namespace {

constexpr std::size_t kMostFaults = 16;

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// A Secret without its data.
std::string shown_content(const ObjectKey& key, const std::string& content) {
  if (key.kind != "Secret" || content.empty()) return content;
  nlohmann::json object = parse_json(content);
  if (!object.is_object()) return {};
  object.erase("data");
  object.erase("stringData");
  return json_line(object);
}

std::string text_of(const ObjectKey& key) { return key.kind + "\n" + key.name_space + "\n" + key.name; }

/// nullopt: it is no such text.
std::optional<ObjectKey> key_in(const std::string& text) {
  const std::size_t first = text.find('\n');
  const std::size_t second = first == std::string::npos ? first : text.find('\n', first + 1);
  if (second == std::string::npos) return std::nullopt;
  return ObjectKey{text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

std::vector<RefusedView> refused_views(const RefusedCounts& counts) {
  std::vector<RefusedView> out;
  for (const auto& [reason, count] : counts) out.push_back({std::string(text_of(reason)), count});
  return out;
}

bool is_conflict(const std::vector<HeldVersion>& siblings) {
  return std::ranges::any_of(siblings,
                             [&](const HeldVersion& held) { return !agree(*siblings.front().version, *held.version); });
}

}  // namespace

Error Engine::not_running() const {
  return {ErrorCode::kFailedPrecondition, fault_.empty() ? "federation has not begun yet" : fault_};
}

std::string Engine::own_name(const std::string& cluster) const {
  return cluster == options_.cluster_uid ? std::string() : name_of(cluster);
}

VersionView Engine::view_of(const Version& version, bool with_content) const {
  return {.author = own_name(version.dot.replica.cluster),
          .dot = version.dot,
          .at = milliseconds_of(version.time),
          .origin = own_name(version.origin),
          .deleted = version.deleted,
          .digest = hex_of(version.digest),
          .bytes = version.content.size(),
          .content = with_content ? shown_content(version.key, version.content) : std::string()};
}

Result<StatusView> Engine::view_status() {
  if (!runs()) return not_running();
  const Replica& replica = state_->replica;
  StatusView view;
  view.cluster = options_.cluster_uid;
  view.incarnation = replica.id().incarnation;
  view.policy = to_string(replica.rules().policy);
  view.hub = replica.rules().hub == options_.cluster_uid ? std::string() : replica.rules().hub;
  std::set<std::string> kinds;
  std::set<std::string> namespaces;
  bool everywhere = false;
  for (const PeerSpec& spec : specs_) {
    if (!takes_part(spec)) continue;
    for (const Scope* scope : {&spec.reads, &spec.shares, &spec.writes}) {
      if (scope->nothing) continue;
      kinds.insert(scope->kinds.begin(), scope->kinds.end());
      namespaces.insert(scope->namespaces.begin(), scope->namespaces.end());
      everywhere = everywhere || scope->namespaces.empty();
    }
  }
  view.kinds.assign(kinds.begin(), kinds.end());
  if (!everywhere) view.namespaces.assign(namespaces.begin(), namespaces.end());
  std::map<std::string, KindView> by_kind;
  for (const auto& [key, siblings] : replica.objects()) {
    KindView& kind = by_kind[key.kind];
    const bool deleted = std::ranges::all_of(siblings, [](const HeldVersion& held) { return held.version->deleted; });
    ++(deleted ? kind.tombstones : kind.objects);
    kind.conflicts += is_conflict(siblings);
  }
  for (auto& [name, kind] : by_kind) {
    kind.kind = name;
    view.objects += kind.objects;
    view.tombstones += kind.tombstones;
    view.conflicts += kind.conflicts;
    view.by_kind.push_back(std::move(kind));
  }
  view.dropped = replica.counts().dropped;
  for (const auto& [cluster, peer] : replica.peers()) view.peers += !peer.removed;
  for (const auto& [cluster, connection] : connections_) view.connected += connection.session != nullptr;
  view.sequence = replica.sequence();
  view.state_bytes = file_->bytes();
  view.state_written = state_written_;
  view.unapplied = applying_.size() + retries_.size();
  for (const auto& [kind, fault] : api_->faults()) view.faults.push_back(fault);
  for (const auto& [key, retry] : retries_) {
    if (view.faults.size() >= kMostFaults) break;
    view.faults.push_back(key.kind + " " + (key.name_space.empty() ? "" : key.name_space + "/") + key.name + ": " +
                          retry.fault);
  }
  return view;
}

PeerView Engine::peer_view(const std::string& cluster, const Peer* peer, const PeerSpec& spec) const {
  PeerView view;
  view.name = spec.name.empty() ? spec.hub : spec.name;
  view.cluster = cluster;
  view.is_hub = !spec.hub.empty();
  view.suspended = spec.suspended;
  view.objects_limit = spec.quota.objects;
  view.bytes_limit = spec.quota.bytes;
  if (peer == nullptr) {
    view.fault = takes_part(spec) ? "it has never connected for federation" : another_hub();
    return view;
  }
  const Replica& replica = state_->replica;
  view.stale = peer->stale;
  view.lag_versions = replica.sequence() - std::min(replica.sequence(), peer->acknowledged);
  const auto connection = connections_.find(cluster);
  if (connection != connections_.end() && connection->second.session != nullptr) {
    const SessionFacts facts = connection->second.session->facts();
    view.connected = facts.greeted;
    view.comparing = facts.comparing;
    view.synchronized = facts.synchronized;
  }
  if (const PeerCounts* const counts = counts_of(cluster)) {
    view.since = counts->since;
    if (view.lag_versions > 0 && counts->behind_since > 0) view.lag_ms = steady() - counts->behind_since;
    view.last_comparison = counts->last_comparison;
    view.comparisons = counts->comparisons;
    view.differences = counts->differences;
    view.sent_bytes = counts->sent_bytes;
    view.received_bytes = counts->received_bytes;
    view.sent_versions = counts->sent_versions;
    view.received_versions = counts->received_versions;
    view.refused = refused_views(counts->refused);
    view.refused_by_peer = refused_views(counts->refused_by_peer);
    if (!view.connected) view.fault = counts->fault;
  }
  for (const auto& [key, siblings] : replica.objects()) {
    bool any = false;
    for (const HeldVersion& held : siblings) {
      if (held.version->dot.replica.cluster != cluster) continue;
      any = true;
      view.bytes += size_of(*held.version);
    }
    view.objects += any;
  }
  return view;
}

Result<std::vector<PeerView>> Engine::view_peers() {
  if (!runs()) return not_running();
  std::vector<PeerView> out;
  for (const PeerSpec& spec : specs_) {
    if (!spec.enabled) continue;
    bool any = false;
    for (const auto& [cluster, peer] : state_->replica.peers()) {
      if (peer.removed || spec_of(cluster, peer) != &spec) continue;
      out.push_back(peer_view(cluster, &peer, spec));
      any = true;
    }
    if (!any) out.push_back(peer_view({}, nullptr, spec));
  }
  std::ranges::sort(out, {}, [](const PeerView& view) { return std::tie(view.name, view.cluster); });
  if (out.size() > 1024) out.resize(1024);
  return out;
}

Result<ConflictsView> Engine::view_conflicts(const ConflictsQuestion& question) {
  if (!runs()) return not_running();
  ConflictsView view;
  std::size_t bytes = 0;
  const auto add = [&](const ObjectKey& key) {
    const auto* siblings = state_->replica.siblings(key);
    if (siblings == nullptr || !is_conflict(*siblings)) return;
    ConflictView one{.key = key, .winner = view_of(*siblings->front().version, question.contents), .losers = {}};
    bytes += one.winner.content.size();
    for (const HeldVersion& held : *siblings) {
      if (agree(*siblings->front().version, *held.version)) continue;
      one.losers.push_back(view_of(*held.version, question.contents));
      bytes += one.losers.back().content.size();
    }
    view.items.push_back(std::move(one));
  };
  if (question.key) {
    add(*question.key);
    if (view.items.empty()) return Error{ErrorCode::kNotFound, "the object has no conflict"};
    return view;
  }
  auto first = conflicts_.begin();
  if (!question.after.empty()) {
    const auto after = key_in(question.after);
    if (!after) return Error{ErrorCode::kInvalidArgument, "`after` is of no answer"};
    first = conflicts_.upper_bound(*after);
  }
  const std::size_t limit = std::clamp<std::size_t>(question.limit, 1, kMostViewed);
  for (; first != conflicts_.end() && view.items.size() < limit && bytes < kMostViewedBytes; ++first) add(first->first);
  if (first != conflicts_.end() && !view.items.empty()) view.next = text_of(view.items.back().key);
  return view;
}

Result<ClockView> Engine::view_clock(const ObjectKey& key) {
  if (!runs()) return not_running();
  const Replica& replica = state_->replica;
  const auto* siblings = replica.siblings(key);
  if (siblings == nullptr) return Error{ErrorCode::kNotFound, "no version of the object is known"};
  ClockView view{.key = key, .versions = {}, .entries = {}, .peers = {}};
  Past past;
  for (const HeldVersion& held : *siblings) {
    view.versions.push_back(view_of(*held.version, false));
    past.add(held.version->past);
  }
  for (const auto& [id, ranges] : past.entries()) view.entries.push_back({own_name(id.cluster), id, ranges});
  for (const auto& [cluster, peer] : replica.peers()) {
    const PeerSpec* const spec = spec_of(cluster, peer);
    if (peer.removed || spec == nullptr) continue;
    const auto connection = connections_.find(cluster);
    PeerKnowledgeView one{.name = spec->name.empty() ? spec->hub : spec->name,
                          .cluster = cluster,
                          .connected = connection != connections_.end() && connection->second.session != nullptr,
                          .shown = peer.settings.reads.covers(key)};
    for (const HeldVersion& held : *siblings) {
      const bool refused = held.refused_by.contains(cluster);
      // What it may not read it is not sent, though it acknowledges that nothing is left.
      const bool known = one.shown ? replica.is_known_by(held, cluster, peer) : held.known_by.contains(cluster);
      (refused ? one.refused : known ? one.known : one.unknown).push_back(held.version->dot);
    }
    view.peers.push_back(std::move(one));
  }
  std::ranges::sort(view.peers, {}, &PeerKnowledgeView::name);
  return view;
}

/// One page of a preview: what comes after where the last page ended.
class Engine::PreviewPage {
 public:
  /// Returns an error for an `after` that no page has ended with.
  static Result<PreviewPage> after(const PreviewQuestion& question) {
    PreviewPage page;
    page.limit_ = std::clamp<std::size_t>(question.limit, 1, kMostViewed);
    if (question.after.empty()) return page;
    const std::size_t end = question.after.find('\t');
    if (end != std::string::npos) page.after_key_ = key_in(question.after.substr(end + 1));
    if (!page.after_key_) return Error{ErrorCode::kInvalidArgument, "`after` is of no answer"};
    page.after_at_ = question.after.substr(0, end);
    return page;
  }
  bool full() const { return full_; }
  /// In the order of where it is, and of the object.
  void add(PreviewItem item) {
    if (after_key_ && std::tie(item.at, item.key) <= std::tie(after_at_, *after_key_)) return;
    if (view_.items.size() >= limit_ || bytes_ >= kMostViewedBytes) {
      full_ = true;
      return;
    }
    bytes_ += item.before.size() + item.after.size();
    view_.items.push_back(std::move(item));
  }
  PreviewView finish() && {
    if (full_ && !view_.items.empty()) view_.next = view_.items.back().at + "\t" + text_of(view_.items.back().key);
    return std::move(view_);
  }

 private:
  std::string after_at_;
  std::optional<ObjectKey> after_key_;
  std::size_t limit_ = 1;
  std::size_t bytes_ = 0;
  bool full_ = false;
  PreviewView view_;
};

Result<PreviewView> Engine::view_preview(const PreviewQuestion& question) {
  if (!runs()) return not_running();
  Result<PreviewPage> page = PreviewPage::after(question);
  if (!page) return page.error();
  preview_own(*page);
  // By name.
  std::map<std::string, std::pair<std::string, const Peer*>> peers;
  for (const auto& [cluster, peer] : state_->replica.peers()) {
    const PeerSpec* const spec = spec_of(cluster, peer);
    if (peer.removed || spec == nullptr) continue;
    const std::string name = spec->name.empty() ? spec->hub : spec->name;
    if (question.peer.empty() || question.peer == name || question.peer == cluster) peers[name] = {cluster, &peer};
  }
  if (!question.peer.empty() && peers.empty()) return Error{ErrorCode::kNotFound, "no peer is called " + question.peer};
  for (const auto& [name, entry] : peers) preview_peer(name, entry.first, *entry.second, *page);
  return std::move(*page).finish();
}

/// What this cluster's API lacks.
void Engine::preview_own(PreviewPage& page) {
  for (const auto& [key, siblings] : state_->replica.objects()) {
    if (page.full() || !is_covered(key)) continue;
    const Version& winner = *siblings.front().version;
    const auto applied = state_->applied.find(key);
    const bool same = applied != state_->applied.end() && agree(*applied->second, winner);
    const ApiObject* const object = api_->find(key);
    if (same || (winner.deleted && object == nullptr)) continue;
    page.add({.at = {},
              .key = key,
              .change = winner.deleted      ? PreviewItem::Change::kDeleted
                        : object == nullptr ? PreviewItem::Change::kCreated
                                            : PreviewItem::Change::kChanged,
              .before = object == nullptr ? std::string() : shown_content(key, object->content),
              .after = shown_content(key, winner.content)});
  }
}

/// What a peer lacks.
void Engine::preview_peer(const std::string& name, const std::string& cluster, const Peer& peer, PreviewPage& page) {
  const Replica& replica = state_->replica;
  for (const auto& [key, siblings] : replica.objects()) {
    if (page.full()) break;
    const HeldVersion& winner = siblings.front();
    if (!peer.settings.reads.covers(key) || replica.is_known_by(winner, cluster, peer) ||
        winner.refused_by.contains(cluster)) {
      continue;
    }
    const bool had = winner.had_before.contains(cluster);
    if (winner.version->deleted && !had && winner.version->past.entries().size() < 2) continue;
    page.add({.at = name,
              .key = key,
              .change = winner.version->deleted ? PreviewItem::Change::kDeleted
                        : had                   ? PreviewItem::Change::kChanged
                                                : PreviewItem::Change::kCreated,
              .before = {},
              .after = shown_content(key, winner.version->content)});
  }
}

Result<std::vector<SyncStarted>> Engine::sync(const std::string& peer) {
  if (!runs()) return not_running();
  std::vector<SyncStarted> out;
  for (const auto& [cluster, known] : state_->replica.peers()) {
    const PeerSpec* const spec = spec_of(cluster, known);
    if (known.removed || spec == nullptr) continue;
    SyncStarted one{.name = spec->name.empty() ? spec->hub : spec->name, .cluster = cluster};
    if (!peer.empty() && peer != one.name && peer != cluster) continue;
    if (const PeerCounts* const counts = counts_of(cluster)) one.comparison = counts->comparisons + 1;
    const auto connection = connections_.find(cluster);
    if (connection != connections_.end() && connection->second.session != nullptr) {
      one.connected = true;
      connection->second.session->compare_now();
    }
    out.push_back(std::move(one));
  }
  if (!peer.empty() && out.empty()) return Error{ErrorCode::kNotFound, "no peer is called " + peer};
  std::ranges::sort(out, {}, &SyncStarted::name);
  work_soon();
  return out;
}

Status Engine::resolve(const ObjectKey& key, const Dot& chosen, const std::string& by) {
  if (!runs()) return not_running();
  auto written = state_->replica.resolve(key, chosen, wall());
  if (!written) return written.error();
  options_.log.info("a conflict is resolved", {{"object", resource_text(key.kind, key.name_space, key.name)},
                                               {"version_of", name_of(chosen.replica.cluster)},
                                               {"by", by}});
  work();
  if (!runs()) return not_running();
  tell_event(event_tokens_, key, kube::EventLevel::kNormal, "FederationResolved",
             by + " has resolved the conflict: the version of " + name_of(chosen.replica.cluster) +
                 " is written over the others");
  return {};
}

}  // namespace edge::federation
