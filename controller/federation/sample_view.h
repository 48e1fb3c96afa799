// For tests of what shows a federation: a cluster with one conflict, one peer that is there and one that is away.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "controller/federation/view.h"

namespace edge::federation {

/// Thread-safe. The view uses this object, which outlives it.
class SampleFederation {
 public:
  static constexpr const char* kOwn = "aaaa";
  static constexpr const char* kBerlin = "bbbb";
  static constexpr const char* kParis = "cccc";

  View view() {
    View view;
    view.status = [this]() -> Result<StatusView> {
      if (!leads) return not_leading();
      StatusView status{.cluster = kOwn, .incarnation = 7, .policy = "OldestWins"};
      status.kinds = {"ProxyRoute"};
      status.by_kind = {{"ProxyRoute", 2, 1, conflicts_left()}};
      status.objects = 2;
      status.tombstones = 1;
      status.conflicts = conflicts_left();
      status.peers = 2;
      status.connected = 1;
      status.state_bytes = 2048;
      return status;
    };
    view.peers = [this]() -> Result<std::vector<PeerView>> {
      if (!leads) return not_leading();
      return peers();
    };
    view.conflicts = [this](const ConflictsQuestion& question) { return conflicts(question); };
    view.clock = [](const ObjectKey& key) { return clock(key); };
    view.preview = [](const PreviewQuestion& question) { return preview(question); };
    view.sync = [this](const std::string& peer) { return sync(peer); };
    view.resolve = [this](const ObjectKey& key, const Dot& dot, const std::string& by) {
      return resolve(key, dot, by);
    };
    return view;
  }

  bool leads = true;
  std::vector<Dot> resolved{};
  std::vector<std::string> resolvers{};  ///< of each

 private:
  static Error not_leading() {
    return {ErrorCode::kFailedPrecondition, "this controller does not lead: ask edge-controller-1"};
  }
  static Dot own_dot() { return {{kOwn, 7}, 3}; }
  static Dot berlin_dot() { return {{kBerlin, 5}, 9}; }
  static ObjectKey cart() { return {"ProxyRoute", "shop", "cart"}; }

  static std::string route(const char* path) {
    return R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyRoute","metadata":{"name":"cart","namespace":"shop"},)"
           R"("spec":{"hostnames":["shop.example"],"rules":[{"matches":[{"path":{"value":")" +
           std::string(path) + R"("}}]}]}})";
  }
  static VersionView own_version(bool content) {
    return {.author = "",
            .dot = own_dot(),
            .at = 1'700'000'000'000,
            .origin = "berlin",
            .digest = std::string(64, 'a'),
            .bytes = 300,
            .content = content ? route("/own") : std::string()};
  }
  static VersionView berlin_version(bool content) {
    return {.author = "berlin",
            .dot = berlin_dot(),
            .at = 1'700'000'060'000,
            .origin = "berlin",
            .digest = std::string(64, 'b'),
            .bytes = 310,
            .content = content ? route("/berlin") : std::string()};
  }

  std::size_t conflicts_left() {
    const std::lock_guard lock(mutex_);
    return resolved.empty() ? 1 : 0;
  }

  std::vector<PeerView> peers() {
    const std::lock_guard lock(mutex_);
    PeerView berlin{.name = "berlin", .cluster = kBerlin};
    berlin.connected = true;
    berlin.since = 1'700'000'000'000;
    // What was asked for is done by the second look.
    berlin.comparisons = comparisons_;
    berlin.lag_versions = looks_left_ > 0 ? 4 : 0;
    if (looks_left_ > 0) --looks_left_;
    berlin.synchronized = berlin.lag_versions == 0;
    berlin.sent_bytes = 5000;
    berlin.received_versions = 12;
    berlin.refused = {{"the author may not write the object", 2}};
    berlin.objects_limit = 20'000;
    PeerView paris{.name = "paris", .cluster = kParis, .lag_versions = 3, .lag_ms = 90'000};
    paris.fault = "the connection was lost";
    return {berlin, paris};
  }

  Result<ConflictsView> conflicts(const ConflictsQuestion& question) {
    if (!leads) return not_leading();
    if (conflicts_left() == 0) {
      if (question.key) return Error{ErrorCode::kNotFound, "there is no conflict about it"};
      return ConflictsView{};
    }
    if (question.key && *question.key != cart()) {
      return Error{ErrorCode::kNotFound, "there is no conflict about it"};
    }
    if (!question.after.empty()) return ConflictsView{};
    return ConflictsView{{{cart(), own_version(question.contents), {berlin_version(question.contents)}}}, "1"};
  }

  static Result<ClockView> clock(const ObjectKey& key) {
    if (key != cart()) return Error{ErrorCode::kNotFound, "no version of it is here"};
    ClockView clock{.key = key, .versions = {own_version(false), berlin_version(false)}, .entries = {}, .peers = {}};
    clock.entries = {{"", {kOwn, 7}, {{1, 3}}}, {"berlin", {kBerlin, 5}, {{2, 4}, {9, 9}}}};
    clock.peers = {{.name = "berlin", .cluster = kBerlin, .connected = true, .known = {own_dot(), berlin_dot()}},
                   {.name = "paris", .cluster = kParis, .known = {own_dot()}, .unknown = {berlin_dot()}}};
    return clock;
  }

  static Result<PreviewView> preview(const PreviewQuestion& question) {
    if (!question.peer.empty() && question.peer != "paris") {
      return Error{ErrorCode::kNotFound, "there is no peer of the name"};
    }
    PreviewView preview;
    preview.items = {{.at = "", .key = cart(), .change = PreviewItem::Change::kCreated, .after = route("/own")},
                     {.at = "paris", .key = cart(), .change = PreviewItem::Change::kDeleted, .before = route("/own")}};
    return preview;
  }

  Result<std::vector<SyncStarted>> sync(const std::string& peer) {
    if (!peer.empty() && peer != "berlin") return Error{ErrorCode::kNotFound, "there is no peer of the name"};
    const std::lock_guard lock(mutex_);
    ++comparisons_;
    looks_left_ = 2;
    return std::vector<SyncStarted>{{"berlin", kBerlin, true, comparisons_}};
  }

  Status resolve(const ObjectKey& key, const Dot& dot, const std::string& by) {
    if (key != cart() || (dot != own_dot() && dot != berlin_dot())) {
      return Error{ErrorCode::kNotFound, "the version is not among them any more"};
    }
    const std::lock_guard lock(mutex_);
    resolved.push_back(dot);
    resolvers.push_back(by);
    return {};
  }

  std::mutex mutex_;
  std::uint64_t comparisons_ = 0;
  int looks_left_ = 0;
};

}  // namespace edge::federation
