#include "controller/remote/remote_clusters.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"

namespace edge::controller::remote {
namespace {

using namespace std::chrono_literals;

/// How often what depends on the clock is looked at: a quarter of the shortest interval, within these.
constexpr net::Duration kShortestTick = 25ms;
constexpr net::Duration kLongestTick = 250ms;
constexpr auto kGuestPatience = 10s;
constexpr auto kLookAtRoots = 5s;
constexpr auto kLookAtTraffic = 1s;
/// While it is heard, a status says so once in this time.
constexpr auto kTellHeartbeat = 60s;
/// A cluster that connects again and again is let in once a second.
constexpr double kCallsASecond = 1;
constexpr double kMostCallsAtOnce = 5;
constexpr std::size_t kMostGroups = 16;
/// Of a SHA-256 in hex.
constexpr std::size_t kKeyDigits = 64;

std::chrono::milliseconds duration_in(const nlohmann::json& object, const char* name) {
  const auto read = parse_duration(text_in(object, name));
  return read ? std::chrono::duration_cast<std::chrono::milliseconds>(*read) : std::chrono::milliseconds(0);
}

/// The epoch: none, or no time.
WallTime time_in(const nlohmann::json& object, const char* name) {
  return WallTime(std::chrono::seconds(parse_timestamp(text_in(object, name)).value_or(0)));
}

std::vector<std::string> groups_in(const nlohmann::json& spec) {
  std::vector<std::string> groups;
  for (const nlohmann::json& group : list_in(spec, "agentGroups")) {
    if (group.is_string() && groups.size() < kMostGroups) groups.push_back(group.get<std::string>());
  }
  std::ranges::sort(groups);
  return groups;
}

std::vector<std::string> namespaces_in(const nlohmann::json& spec) {
  std::vector<std::string> namespaces;
  for (const nlohmann::json& name : list_in(spec, "exportNamespaces")) namespaces.push_back(text_value(name));
  return namespaces;
}

}  // namespace

RemoteSpec read_remote_spec(std::string_view document) {
  const nlohmann::json object = parse_json(document);
  const nlohmann::json& spec = member_in(object, "spec");
  const nlohmann::json& heartbeat = member_in(spec, "heartbeat");
  const nlohmann::json& suspended = member_in(spec, "suspended");
  return {.heartbeat = bounded({duration_in(heartbeat, "interval"), duration_in(heartbeat, "timeout")}),
          .suspended = suspended.is_boolean() && suspended.get<bool>(),
          .created = text_in(member_in(object, "metadata"), "creationTimestamp"),
          .agent_groups = groups_in(spec),
          .region = text_in(spec, "region"),
          .export_namespaces = namespaces_in(spec),
          .revoked_before = time_in(member_in(spec, "tls"), "revokedBefore")};
}

ShownCertificate read_shown_certificate(std::string_view fields) {
  const nlohmann::json object = parse_json(fields);
  ShownCertificate shown{.key = text_in(object, "certificateKey"),
                         .until = time_in(object, "certificateExpires"),
                         .shown = time_in(object, "certificateShown")};
  // It goes into a file of the authority as a word.
  const bool is_key =
      shown.key.size() == kKeyDigits && shown.key.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_key && shown.shown != WallTime() && shown.shown <= shown.until) return shown;
  return {};
}

RemoteClusters::RemoteClusters(RemoteClustersOptions options) : options_(std::move(options)) {}

RemoteClusters::~RemoteClusters() { stop(); }

void RemoteClusters::stop() {
  std::vector<Ended> ended;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [name, entry] : entries_) close(entry, {ErrorCode::kUnavailable, "the controller ends"}, ended);
  }
  wake_.notify_all();
  for (const Ended& one : ended) one.connection->end(one.why);
  if (thread_.joinable()) thread_.join();
}

/// Of objects of one name, the one that came first.
const std::pair<const std::string, RemoteSpec>& RemoteClusters::holder_of(const Entry& entry) {
  return *std::ranges::min_element(entry.specs, {}, [](const auto& one) {
    return std::pair(std::string_view(one.second.created), std::string_view(one.first));
  });
}

void RemoteClusters::put(const std::string& name_space, const std::string& name, RemoteSpec spec) {
  std::optional<Said> said;
  std::vector<Ended> ended;
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    if (!entries_.contains(name) && entries_.size() >= kMostClusters) {
      return options_.log.error("EdgeRemoteCluster " + name + " is left out: there are more than " +
                                std::to_string(kMostClusters));
    }
    Entry& entry = entries_[name];
    const auto before = entry.specs.find(name_space);
    if (before != entry.specs.end() && before->second == spec) return;
    entry.was_connected = entry.was_connected || spec.was_connected;
    entry.specs.insert_or_assign(name_space, std::move(spec));
    said = follow_holder(name, entry, ended);
    changed = refresh(name, entry);
    if (options_.traffic != nullptr) need_thread();
  }
  for (const Ended& one : ended) one.connection->end(one.why);
  if (said) said->connection->say(std::move(said->words));
  tell_traffic();
  wake_.notify_all();
  announce(changed);
}

/// After its objects changed. At once: were the next look at the clock awaited, a connection would outlive a short
/// suspension, and what the cluster exports, which is said once a connection, would be forgotten.
std::optional<RemoteClusters::Said> RemoteClusters::follow_holder(const std::string& name, Entry& entry,
                                                                  std::vector<Ended>& ended) {
  if (synced_) learn(name, entry);
  static_cast<void>(end_at_fault(name, entry, ended));
  const Heartbeat& heartbeat = holder_of(entry).second.heartbeat;
  if (!entry.link || entry.link->heartbeat() == heartbeat) return std::nullopt;
  entry.link->set_heartbeat(heartbeat, now());
  return Said{entry.connection,
              {Hello{.cluster_uid = options_.cluster_uid, .version = options_.version, .heartbeat = heartbeat}}};
}

void RemoteClusters::remove(const std::string& name_space, const std::string& name) {
  std::optional<Said> said;
  std::vector<Ended> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    if (entry.specs.erase(name_space) == 0) return;
    if (entry.specs.empty()) {
      close(entry, {ErrorCode::kNotFound, "its EdgeRemoteCluster was deleted"}, ended);
      entries_.erase(found);
    } else {
      said = follow_holder(name, entry, ended);
      static_cast<void>(refresh(name, entry));
    }
    ++changes_;
  }
  for (const Ended& one : ended) one.connection->end(one.why);
  if (said) said->connection->say(std::move(said->words));
  tell_traffic();
  announce(true);
}

void RemoteClusters::synced() {
  {
    const std::lock_guard lock(mutex_);
    synced_ = true;
    for (const auto& [name, entry] : entries_) learn(name, entry);
  }
  tell_traffic();
}

/// Of the object that holds the name: whoever may write another one has no say in it. So not before all are known.
void RemoteClusters::learn(const std::string& name, const Entry& entry) const {
  if (authority_ == nullptr) return;
  const RemoteSpec& spec = holder_of(entry).second;
  const auto tell = [&](std::string_view what, const Status& status) {
    if (!status) options_.log.error(std::string(what) + " cannot be kept: " + status.error().text, {{"cluster", name}});
  };
  // First: what was shown before a revocation counts no more.
  if (spec.revoked_before != WallTime()) {
    tell("that a cluster is revoked", authority_->revoke_remote_until(name, spec.revoked_before));
  }
  if (!spec.shown.key.empty()) {
    tell("which certificate a cluster has", authority_->learn_remote(name, spec.shown));
  }
}

Status RemoteClusters::may_speak() const {
  if (!options_.leads || options_.leads()) return {};
  return Error{ErrorCode::kUnavailable, "another controller of the hub leads; try again"};
}

void RemoteClusters::set_own(std::uint32_t agents, std::uint32_t ready, const std::string& program) {
  const std::lock_guard lock(mutex_);
  own_ = {agents, ready, program, {}};
  if (ready == agents) {
    behind_since_.reset();
  } else if (!behind_since_) {
    behind_since_ = now();
  }
}

Report RemoteClusters::own() const {
  const std::lock_guard lock(mutex_);
  return own_report();
}

Report RemoteClusters::own_report() const {
  Report report = own_;
  if (behind_since_) report.lag = std::chrono::duration_cast<std::chrono::milliseconds>(now() - *behind_since_);
  return report;
}

Status RemoteClusters::welcome(const std::shared_ptr<Connection>& guest) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return Error{ErrorCode::kUnavailable, "the controller ends"};
  std::erase_if(guests_, [](const Guest& one) { return one.connection.expired(); });
  if (guests_.size() >= kMostGuests) {
    return Error{ErrorCode::kResourceExhausted, "many clusters connect at once; try again"};
  }
  guests_.push_back({guest, now() + kGuestPatience});
  need_thread();
  wake_.notify_all();
  return {};
}

bool RemoteClusters::may_call(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  // Who has no object is told so for nothing.
  if (found == entries_.end()) return true;
  Bucket& calls = found->second.calls;
  const net::Time time = now();
  const double seconds = std::chrono::duration<double>(time - calls.filled).count();
  calls.tokens = std::min(kMostCallsAtOnce, calls.tokens + std::max(0.0, seconds) * kCallsASecond);
  calls.filled = time;
  if (calls.tokens < 1) {
    ++found->second.refused;
    return false;
  }
  calls.tokens -= 1;
  return true;
}

Result<Hello> RemoteClusters::enter(const std::shared_ptr<Connection>& guest, const CertificateFacts& certificate,
                                    const Hello& hello, const std::string& address) {
  const std::string& name = certificate.subject.name;
  if (Status status = may_speak(); !status) return status.error();
  std::shared_ptr<Connection> before;
  Hello own{.cluster_uid = options_.cluster_uid, .version = options_.version};
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(guests_, [&](const Guest& one) { return one.connection.lock() == guest; });
    const auto found = entries_.find(name);
    if (stopping_ || !synced_) {
      return Error{ErrorCode::kUnavailable, "the hub does not know its clusters yet; try again"};
    }
    if (found == entries_.end()) {
      return Error{ErrorCode::kNotFound, "the hub has no EdgeRemoteCluster `" + name + "`"};
    }
    Entry& entry = found->second;
    const RemoteSpec& spec = holder_of(entry).second;
    if (spec.suspended) return Error{ErrorCode::kUnavailable, "the hub keeps the cluster out: spec.suspended"};
    std::optional<Error> fault;
    if (hello.cluster_uid == options_.cluster_uid) {
      fault = Error{ErrorCode::kFailedPrecondition, "the hub and the cluster are one: they have one signing key"};
    } else if (entry.link && entry.cluster_uid != hello.cluster_uid && !entry.link->is_lost(now())) {
      fault = Error{ErrorCode::kAlreadyExists, "another cluster is connected by the name " + name};
    }
    if (fault) {
      refuse(name, entry, *fault);
      return *fault;
    }
    before = std::exchange(entry.connection, guest);
    if (before) connected_.erase(before.get());
    connected_[guest.get()] = name;
    entry.link.emplace(spec.heartbeat, now());
    entry.news = {};
    entry.certificate = certificate;
    entry.cluster_uid = hello.cluster_uid;
    entry.version = hello.version;
    entry.address = address;
    entry.heard = wall();
    entry.refusal.clear();
    entry.last_error.clear();
    ++entry.connections;
    own.heartbeat = spec.heartbeat;
    changed = refresh(name, entry);
    need_thread();
  }
  if (before) before->end({ErrorCode::kAborted, "the cluster has connected anew"});
  options_.log.info("a cluster has connected", {{"cluster", name}, {"from", address}, {"version", hello.version}});
  wake_.notify_all();
  announce(changed);
  return own;
}

RemoteClusters::Entry* RemoteClusters::entry_of(const Connection& connection) {
  const auto known = connected_.find(&connection);
  const auto found = known == connected_.end() ? entries_.end() : entries_.find(known->second);
  return found == entries_.end() ? nullptr : &found->second;
}

Status RemoteClusters::hear(const Connection& connection, const Word& word) {
  std::optional<Said> said;
  bool changed = false;
  Status status;
  {
    const std::lock_guard lock(mutex_);
    Entry* const entry = entry_of(connection);
    if (entry == nullptr) return Error{ErrorCode::kAborted, "the connection is over"};
    status = entry->link->hear(word, now());
    entry->heard = wall();
    if (!status) ++entry->refused;
    if (entry->link->report()) entry->report = entry->link->report();
    if (status && std::holds_alternative<Hello>(word)) {
      status = Error{ErrorCode::kInvalidArgument, "two hellos of one cluster"};
    }
    std::vector<Word> words = entry->link->due(own_report(), now());
    if (!words.empty()) said = Said{entry->connection, std::move(words)};
    changed = refresh(connected_.at(&connection), *entry);
  }
  const auto* const exports = std::get_if<Exports>(&word);
  if (status && exports != nullptr) take_exports(connection, *exports);
  if (said) said->connection->say(std::move(said->words));
  announce(changed);
  return status;
}

void RemoteClusters::left(const Connection& connection, const std::string& why) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(guests_, [&](const Guest& one) { return one.connection.expired(); });
    Entry* const entry = entry_of(connection);
    if (entry == nullptr) return;
    const std::string name = connected_.at(&connection);
    connected_.erase(&connection);
    entry->connection.reset();
    entry->link.reset();
    entry->last_error = why;
    changed = refresh(name, *entry);
    options_.log.warn("a cluster is connected no longer", {{"cluster", name}, {"reason", why}});
  }
  announce(changed);
}

void RemoteClusters::refuse(const std::string& name, Entry& entry, const Error& why) {
  ++entry.refused;
  const std::string_view reason = refusal_of(why.code);
  if (reason.empty()) return;
  entry.refusal = reason;
  entry.refusal_message = why.text;
  static_cast<void>(refresh(name, entry));
}

void RemoteClusters::refused(const CertificateFacts& certificate, const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(certificate.subject.name);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    const std::string& known = entry.certificate.key.empty() ? entry.told.certificate_key : entry.certificate.key;
    if (entry.link || (!known.empty() && known != certificate.key)) {
      ++entry.refused;
      return;
    }
    refuse(found->first, entry, why);
  }
  announce(true);
}

/// Why its connection is to end.
std::optional<Error> RemoteClusters::fault_of(const std::string& name, Entry& entry) const {
  if (entry.link->is_lost(now())) {
    return Error{ErrorCode::kDeadlineExceeded, "it has been silent for longer than heartbeat.timeout"};
  }
  if (holder_of(entry).second.suspended) {
    return Error{ErrorCode::kUnavailable, "the hub keeps the cluster out: spec.suspended"};
  }
  if (authority_->is_revoked(entry.certificate)) {
    return Error{ErrorCode::kUnauthenticated, "the certificate of " + name + " is revoked"};
  }
  if (wall() >= entry.certificate.validity.until) {
    return Error{ErrorCode::kUnauthenticated, "the certificate of " + name + " is over"};
  }
  return std::nullopt;
}

void RemoteClusters::close(Entry& entry, const Error& why, std::vector<Ended>& ended) {
  if (!entry.connection) return;
  connected_.erase(entry.connection.get());
  ended.push_back({std::move(entry.connection), why});
  entry.connection.reset();
  entry.link.reset();
  entry.last_error = why.text;
}

/// Ends its connection where there is a reason to. \returns whether there was.
bool RemoteClusters::end_at_fault(const std::string& name, Entry& entry, std::vector<Ended>& ended) {
  const auto fault = entry.link ? fault_of(name, entry) : std::nullopt;
  if (!fault) return false;
  if (!refusal_of(fault->code).empty()) refuse(name, entry, *fault);
  close(entry, *fault, ended);
  options_.log.warn("a cluster is connected no longer", {{"cluster", name}, {"reason", fault->text}});
  return true;
}

void RemoteClusters::tick() {
  std::vector<Ended> ended;
  std::vector<Said> said;
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const net::Time time = now();
    std::optional<Trust> trust;
    if (!connected_.empty() && time >= roots_at_) {
      roots_at_ = time + kLookAtRoots;
      std::string roots = authority_->roots();
      if (!roots_.empty() && roots != roots_) trust = Trust{roots};
      roots_ = std::move(roots);
    }
    for (auto& [name, entry] : entries_) {
      if (!entry.link) continue;
      const bool lost = entry.link->is_lost(time);
      if (!end_at_fault(name, entry, ended)) {
        std::vector<Word> words = entry.link->due(own_report(), time);
        if (trust) words.emplace_back(*trust);
        add_news(name, entry, words);
        if (!words.empty()) said.push_back({entry.connection, std::move(words)});
      }
      changed = refresh(name, entry) || lost || changed;
    }
    std::erase_if(guests_, [&](const Guest& one) {
      auto connection = one.connection.lock();
      if (connection && one.until <= time) {
        ended.push_back({std::move(connection), {ErrorCode::kDeadlineExceeded, "the first word has not come"}});
        return true;
      }
      return connection == nullptr;
    });
  }
  for (Said& one : said) one.connection->say(std::move(one.words));
  for (const Ended& one : ended) one.connection->end(one.why);
  bool due = false;
  {
    const std::lock_guard lock(mutex_);
    due = now() >= traffic_at_;
    if (due) traffic_at_ = now() + kLookAtTraffic;
  }
  if (due) tell_traffic();
  announce(changed);
}

ClusterFacts RemoteClusters::facts_of(const Entry& entry) const {
  const Validity& validity = entry.certificate.validity;
  // A third of its life before the end it should have been renewed.
  const bool ends = entry.link && validity.until - wall() < (validity.until - validity.from) / 6;
  return {.suspended = holder_of(entry).second.suspended,
          .was_connected = entry.was_connected,
          .dials = false,
          .link = entry.link ? std::optional(entry.link->facts()) : std::nullopt,
          .report = entry.link ? entry.link->report() : std::nullopt,
          .certificate_ends = ends,
          .refusal = entry.refusal,
          .refusal_message = entry.refusal_message,
          .last_error = entry.last_error};
}

bool RemoteClusters::refresh(const std::string& name, Entry& entry) {
  const RemoteSpec& spec = holder_of(entry).second;
  RemoteView view{.phase = phase_of(facts_of(entry), spec.heartbeat, now()),
                  .version = entry.version,
                  .cluster_uid = entry.cluster_uid,
                  .report = entry.report,
                  .heard = entry.heard,
                  .address = entry.address};
  if (auto shown = authority_ != nullptr ? authority_->shown_remote(name) : std::nullopt) {
    view.certificate_until = shown->until;
    view.certificate_key = std::move(shown->key);
    view.certificate_shown = shown->shown;
  }
  if (view.phase.phase == Phase::kConnected) entry.was_connected = true;
  const RemoteView& told = entry.told;
  const auto without_lag = [](std::optional<Report> report) {
    if (report) report->lag = {};
    return report;
  };
  const bool same = told.phase == view.phase && told.version == view.version && told.cluster_uid == view.cluster_uid &&
                    told.certificate_until == view.certificate_until && told.certificate_key == view.certificate_key &&
                    told.address == view.address && without_lag(told.report) == without_lag(view.report) &&
                    view.heard - told.heard < kTellHeartbeat;
  if (same) return false;
  if (told.phase.phase != view.phase.phase) {
    options_.log.info("cluster " + name + " is " + std::string(to_string(view.phase.phase)),
                      {{"reason", view.phase.reason}});
  }
  entry.told = std::move(view);
  ++changes_;
  return true;
}

std::optional<std::string> RemoteClusters::connected_uid(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || !found->second.link) return std::nullopt;
  return found->second.cluster_uid;
}

Result<std::vector<std::string>> RemoteClusters::relayed_groups(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || !found->second.link) {
    return Error{ErrorCode::kUnavailable, "there is no link of the cluster"};
  }
  const RemoteSpec& spec = holder_of(found->second).second;
  if (spec.agent_groups.empty()) {
    return Error{ErrorCode::kPermissionDenied,
                 "EdgeRemoteCluster " + name + " lets no agents take programs: spec.agentGroups names no group"};
  }
  return spec.agent_groups;
}

RemoteViews RemoteClusters::views() const {
  const std::lock_guard lock(mutex_);
  RemoteViews views;
  for (const auto& [name, entry] : entries_) {
    const std::string& holder = holder_of(entry).first;
    for (const auto& [space, spec] : entry.specs) {
      RemoteView& view = views[space + "/" + name];
      if (space != holder) {
        view.phase = {Phase::kFailed, "Conflicted", "EdgeRemoteCluster " + holder + "/" + name + " has the name"};
        continue;
      }
      view = entry.told;
      if (entry.link) {
        view.round_trip = entry.link->facts().round_trip;
        view.silence = now() - entry.link->facts().heard;
      }
      view.connections = entry.connections;
      view.refused = entry.refused;
    }
  }
  return views;
}

std::uint64_t RemoteClusters::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void RemoteClusters::announce(bool changed) {
  if (changed && options_.changed) options_.changed();
}

void RemoteClusters::need_thread() {
  if (!options_.steady && !thread_.joinable() && !stopping_) thread_ = std::thread([this] { run(); });
}

void RemoteClusters::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // While nobody is connected there is nothing that time changes, but who was revoked.
    const bool looks = options_.traffic != nullptr && !entries_.empty();
    const auto somebody = [this] { return stopping_ || !connected_.empty() || !guests_.empty(); };
    if (looks) {
      wake_.wait_for(lock, kLookAtTraffic, somebody);
    } else {
      wake_.wait(lock, somebody);
    }
    net::Duration step = kLongestTick;
    for (const auto& [name, entry] : entries_) {
      if (entry.link) step = std::min<net::Duration>(step, entry.link->heartbeat().interval / 4);
    }
    if (wake_.wait_for(lock, std::max(step, kShortestTick), [this] { return stopping_; })) return;
    lock.unlock();
    tick();
    lock.lock();
  }
}

}  // namespace edge::controller::remote
