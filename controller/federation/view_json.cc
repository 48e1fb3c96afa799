#include "controller/federation/view_json.h"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/text/times.h"

namespace edge::federation {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kSecret = "Secret";

/// Null: never.
OrderedJson time_json(std::int64_t milliseconds) {
  if (milliseconds <= 0) return nullptr;
  return rfc3339(milliseconds / 1000);
}

OrderedJson key_json(const ObjectKey& key) {
  return {{"kind", key.kind}, {"namespace", key.name_space}, {"name", key.name}};
}

/// Unique among the versions of an object: what `--keep` and `resolve` take.
std::string dot_text(const Dot& dot) {
  return dot.replica.cluster + "." + std::to_string(dot.replica.incarnation) + "." + std::to_string(dot.counter);
}

/// Null: there is none, or it is not shown.
OrderedJson content_json(const ObjectKey& key, const std::string& content) {
  if (content.empty() || key.kind == kSecret) return nullptr;
  OrderedJson parsed = parse_ordered_json(content);
  return parsed.is_discarded() ? OrderedJson(nullptr) : parsed;
}

OrderedJson version_json(const ObjectKey& key, const VersionView& version) {
  OrderedJson json = {{"author", version.author}, {"version", dot_text(version.dot)}, {"time", time_json(version.at)},
                      {"origin", version.origin}, {"deleted", version.deleted},       {"digest", version.digest},
                      {"bytes", version.bytes}};
  if (!version.content.empty()) json["content"] = content_json(key, version.content);
  return json;
}

OrderedJson refused_json(const std::vector<RefusedView>& all) {
  OrderedJson json = OrderedJson::array();
  for (const RefusedView& one : all) json.push_back({{"reason", one.reason}, {"count", one.count}});
  return json;
}

OrderedJson dots_json(const std::vector<Dot>& dots) {
  OrderedJson json = OrderedJson::array();
  for (const Dot& dot : dots) json.push_back(dot_text(dot));
  return json;
}

std::string_view text_of(PreviewItem::Change change) {
  switch (change) {
    case PreviewItem::Change::kCreated:
      return "Created";
    case PreviewItem::Change::kDeleted:
      return "Deleted";
    case PreviewItem::Change::kChanged:
      break;
  }
  return "Changed";
}

}  // namespace

OrderedJson json_of(const StatusView& status) {
  OrderedJson by_kind = OrderedJson::array();
  for (const KindView& kind : status.by_kind) {
    by_kind.push_back({{"kind", kind.kind},
                       {"objects", kind.objects},
                       {"tombstones", kind.tombstones},
                       {"conflicts", kind.conflicts}});
  }
  return {{"cluster", status.cluster},
          {"incarnation", status.incarnation},
          {"conflictPolicy", status.policy},
          {"hub", status.hub},
          {"kinds", status.kinds},
          {"namespaces", status.namespaces},
          {"byKind", std::move(by_kind)},
          {"objects", status.objects},
          {"tombstones", status.tombstones},
          {"conflicts", status.conflicts},
          {"droppedVersions", status.dropped},
          {"unapplied", status.unapplied},
          {"peers", status.peers},
          {"connected", status.connected},
          {"sequence", status.sequence},
          {"stateBytes", status.state_bytes},
          {"stateWritten", time_json(status.state_written)},
          {"faults", status.faults}};
}

OrderedJson json_of(const PeerView& peer) {
  return {{"name", peer.name},
          {"cluster", peer.cluster},
          {"hub", peer.is_hub},
          {"connected", peer.connected},
          {"since", time_json(peer.since)},
          {"suspended", peer.suspended},
          {"stale", peer.stale},
          {"comparing", peer.comparing},
          {"synchronized", peer.synchronized},
          {"lagVersions", peer.lag_versions},
          {"lagSeconds", static_cast<double>(peer.lag_ms) / 1000},
          {"lastComparison", time_json(peer.last_comparison)},
          {"comparisons", peer.comparisons},
          {"differences", peer.differences},
          {"sentBytes", peer.sent_bytes},
          {"receivedBytes", peer.received_bytes},
          {"sentVersions", peer.sent_versions},
          {"receivedVersions", peer.received_versions},
          {"refused", refused_json(peer.refused)},
          {"refusedByPeer", refused_json(peer.refused_by_peer)},
          {"quota",
           {{"objects", peer.objects},
            {"objectsLimit", peer.objects_limit},
            {"bytes", peer.bytes},
            {"bytesLimit", peer.bytes_limit}}},
          {"fault", peer.fault}};
}

OrderedJson json_of(const ConflictsView& conflicts) {
  OrderedJson items = OrderedJson::array();
  for (const ConflictView& conflict : conflicts.items) {
    OrderedJson item = key_json(conflict.key);
    item["winner"] = version_json(conflict.key, conflict.winner);
    item["losers"] = OrderedJson::array();
    for (const VersionView& loser : conflict.losers) item["losers"].push_back(version_json(conflict.key, loser));
    items.push_back(std::move(item));
  }
  return {{"items", std::move(items)}, {"next", conflicts.next}};
}

OrderedJson json_of(const ClockView& clock) {
  OrderedJson json = key_json(clock.key);
  json["versions"] = OrderedJson::array();
  for (const VersionView& version : clock.versions) json["versions"].push_back(version_json(clock.key, version));
  json["clock"] = OrderedJson::array();
  for (const ClockEntryView& entry : clock.entries) {
    OrderedJson ranges = OrderedJson::array();
    for (const Range& range : entry.counters) ranges.push_back({{"first", range.first}, {"last", range.last}});
    json["clock"].push_back({{"name", entry.name},
                             {"cluster", entry.replica.cluster},
                             {"incarnation", entry.replica.incarnation},
                             {"counters", std::move(ranges)}});
  }
  json["peers"] = OrderedJson::array();
  for (const PeerKnowledgeView& peer : clock.peers) {
    json["peers"].push_back({{"name", peer.name},
                             {"cluster", peer.cluster},
                             {"connected", peer.connected},
                             {"shown", peer.shown},
                             {"known", dots_json(peer.known)},
                             {"unknown", dots_json(peer.unknown)},
                             {"refused", dots_json(peer.refused)}});
  }
  return json;
}

OrderedJson json_of(const PreviewView& preview) {
  OrderedJson items = OrderedJson::array();
  for (const PreviewItem& item : preview.items) {
    OrderedJson json = {{"at", item.at}};
    json.update(key_json(item.key));
    json["change"] = text_of(item.change);
    json["before"] = content_json(item.key, item.before);
    json["after"] = content_json(item.key, item.after);
    items.push_back(std::move(json));
  }
  return {{"items", std::move(items)}, {"next", preview.next}};
}

OrderedJson json_of(const SyncStarted& started) {
  return {{"name", started.name},
          {"cluster", started.cluster},
          {"connected", started.connected},
          {"comparison", started.comparison}};
}

}  // namespace edge::federation
