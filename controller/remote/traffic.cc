#include "controller/remote/traffic.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/json.h"
#include "net/tls/identity.h"
#include "program/cluster_traffic.h"

namespace edge::controller::remote {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;
constexpr std::size_t kMostKnown = 1024;

std::int64_t milliseconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
WallTime time_of(std::int64_t milliseconds) { return WallTime(std::chrono::milliseconds(milliseconds)); }

json json_of(const Exports& exports) {
  json services = json::object();
  for (const auto& [service, percent] : exports.services) services[service] = percent;
  return {{"gateways", exports.gateways}, {"services", std::move(services)}};
}

Exports exports_in(const json& object) {
  Exports exports;
  for (const json& gateway : list_in(object, "gateways")) exports.gateways.push_back(text_value(gateway));
  const json& services = member_in(object, "services");
  if (!services.is_object()) return exports;
  for (const auto& [service, percent] : services.items()) {
    exports.services[service] =
        static_cast<std::uint8_t>(percent.is_number_unsigned() ? std::min(100U, percent.get<unsigned>()) : 0);
  }
  return exports;
}

json json_of(const ClusterNews& news) {
  json made = json_of(news.exports);
  made["name"] = news.cluster;
  made["region"] = news.region;
  made["connected"] = news.connected;
  made["issuedAfter"] = news.issued_after_ms;
  return made;
}

ClusterNews news_in(const json& object) {
  const json& connected = member_in(object, "connected");
  return {.cluster = text_in(object, "name"),
          .region = text_in(object, "region"),
          .connected = connected.is_boolean() && connected.get<bool>(),
          .issued_after_ms = static_cast<std::uint64_t>(integer_in(object, "issuedAfter")),
          .exports = exports_in(object)};
}

/// `service/NS/NAME:PORT` or `backend/NS/NAME`.
std::string_view namespace_of(std::string_view service) {
  const std::size_t begin = service.find('/');
  if (begin == std::string_view::npos) return {};
  return service.substr(begin + 1, service.find('/', begin + 1) - begin - 1);
}

/// Of none: nothing.
FileStamp stamp_of(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {static_cast<std::uint64_t>(facts.st_ino), facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

}  // namespace

Exports allowed(const Exports& exports, const std::vector<std::string>& namespaces) {
  Exports left{.gateways = exports.gateways};
  for (const auto& [service, percent] : exports.services) {
    const bool passes = std::ranges::any_of(
        namespaces, [&](const std::string& name) { return name == "*" || name == namespace_of(service); });
    if (passes) left.services.emplace(service, percent);
  }
  return left;
}

Traffic::Traffic(TrafficOptions options) : options_(std::move(options)), follows_(options_.shared) { load(); }

void Traffic::begin() { publish(std::unique_lock(mutex_)); }

void Traffic::set_own(Exports exports) {
  std::unique_lock lock(mutex_);
  if (own_ == exports) return;
  own_ = std::move(exports);
  if (!terms_.empty()) {
    set_known(std::string(program::kHubCluster),
              news_of(std::string(program::kHubCluster), {.namespaces = {"*"}, .connected = true}));
  }
  publish(std::move(lock));
}

Exports Traffic::own() const {
  const std::lock_guard lock(mutex_);
  return own_;
}

// ---- The hub --------------------------------------------------------------------------------------------------------

ClusterNews Traffic::news_of(const std::string& name, const TrafficTerms& terms) const {
  ClusterNews news{
      .cluster = name, .region = terms.region, .connected = terms.connected, .issued_after_ms = terms.issued_after_ms};
  const auto said = said_.find(name);
  const bool hub = name == program::kHubCluster;
  if (hub || said != said_.end()) news.exports = allowed(hub ? own_ : said->second, terms.namespaces);
  return news;
}

/// \returns whether it is another.
bool Traffic::set_known(const std::string& name, ClusterNews news) {
  Known& known = known_[name];
  if (known.version != 0 && known.news == news) return false;
  known.news = std::move(news);
  known.version = ++version_;
  return true;
}

void Traffic::make_own(Authority& authority) {
  const std::string roots = authority.roots();
  const bool holds = identity_.hub.empty() && !identity_.certificate.empty() && now() >= identity_.from &&
                     now() < identity_.from + (identity_.until - identity_.from) / 3 * 2;
  if (holds) {
    identity_.authorities = roots;
    return;
  }
  // A cluster that has a hub is known by that one's certificate.
  if (!identity_.hub.empty() && now() < identity_.until) return;
  auto made = authority.own_cluster(program::kHubCluster);
  const auto validity = made ? validity_of(made->certificate) : Result<Validity>(made.error());
  if (!validity) return options_.log.warn("no certificate for other clusters: " + validity.error().text);
  identity_ = {.cluster = std::string(program::kHubCluster),
               .certificate = std::move(made->certificate),
               .key = std::move(made->key),
               .authorities = roots,
               .from = validity->from,
               .until = validity->until};
}

void Traffic::set_clusters(std::map<std::string, TrafficTerms> clusters, Authority& authority) {
  std::unique_lock lock(mutex_);
  follows_ = false;
  clusters.erase(std::string(program::kHubCluster));
  const bool was_hub = !terms_.empty();
  terms_ = std::move(clusters);
  if (terms_.empty() && !was_hub) return;
  make_own(authority);
  if (!identity_.hub.empty()) return;
  set_known(std::string(program::kHubCluster),
            news_of(std::string(program::kHubCluster), {.namespaces = {"*"}, .connected = true}));
  for (const auto& [name, terms] : terms_) set_known(name, news_of(name, terms));
  for (auto& [name, known] : known_) {
    if (name == program::kHubCluster || terms_.contains(name) || known.news.gone) continue;
    set_known(name, {.cluster = name, .gone = true});
    said_.erase(name);
  }
  publish(std::move(lock));
}

void Traffic::take_exports(const std::string& cluster, Exports exports) {
  std::unique_lock lock(mutex_);
  if (!said_.contains(cluster) && said_.size() >= kMostKnown) return;
  said_.insert_or_assign(cluster, std::move(exports));
  // Its terms may come after it: one that is let in again says what it exports only once.
  const auto terms = terms_.find(cluster);
  if (terms == terms_.end()) return;
  if (set_known(cluster, news_of(cluster, terms->second))) publish(std::move(lock));
}

std::vector<Word> Traffic::news_for(const std::string& cluster, NewsCursor& cursor, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  // What another hub has told is not passed on.
  if (!identity_.hub.empty()) return {};
  std::vector<const Known*> later;
  for (const auto& [name, known] : known_) {
    if (name != cluster && known.version > cursor.told) later.push_back(&known);
  }
  std::ranges::sort(later, {}, &Known::version);
  std::vector<Word> words;
  for (const Known* known : later) {
    if (words.size() >= most) return words;
    words.emplace_back(known->news);
    cursor.told = known->version;
  }
  if (!std::exchange(cursor.told_all, true)) words.emplace_back(NewsEnd{});
  return words;
}

// ---- A spoke --------------------------------------------------------------------------------------------------------

bool Traffic::needs_identity(const std::string& hub, const std::string& joined_with) const {
  const std::lock_guard lock(mutex_);
  if (identity_.certificate.empty() || now() >= identity_.until) return true;
  if (identity_.hub.empty()) return terms_.empty();
  if (identity_.hub != hub) return false;
  return identity_.joined_with != joined_with || now() < identity_.from ||
         now() >= identity_.from + (identity_.until - identity_.from) / 3 * 2;
}

Status Traffic::take_identity(TrafficIdentity identity) {
  const auto facts = read_certificate(identity.certificate);
  const auto fits = net::tls::certificate_times(identity.certificate, identity.key);
  if (!facts || !fits || facts->subject != Subject{Role::kCluster, identity.cluster} ||
      !net::tls::are_certificates(identity.authorities)) {
    return Error{ErrorCode::kFailedPrecondition, "the hub's answer is no certificate for traffic of this cluster"};
  }
  std::unique_lock lock(mutex_);
  identity.from = facts->validity.from;
  identity.until = facts->validity.until;
  identity_ = std::move(identity);
  publish(std::move(lock));
  return {};
}

bool Traffic::takes_from(const std::string& hub) const {
  const std::lock_guard lock(mutex_);
  return is_of(hub);
}

void Traffic::trust(const std::string& hub, const std::string& authorities) {
  std::unique_lock lock(mutex_);
  if (!is_of(hub) || identity_.authorities == authorities) return;
  identity_.authorities = authorities;
  publish(std::move(lock));
}

void Traffic::begin_news(const std::string& hub) {
  const std::lock_guard lock(mutex_);
  follows_ = false;
  if (!is_of(hub)) return;
  for (auto& [name, known] : known_) known.told = false;
}

void Traffic::take_news(const std::string& hub, const ClusterNews& news) {
  std::unique_lock lock(mutex_);
  if (!is_of(hub) || news.cluster == identity_.cluster) return;
  if (news.gone) {
    known_.erase(news.cluster);
  } else {
    if (!known_.contains(news.cluster) && known_.size() >= kMostKnown) return;
    set_known(news.cluster, news);
    known_[news.cluster].told = true;
  }
  publish(std::move(lock));
}

void Traffic::end_news(const std::string& hub) {
  std::unique_lock lock(mutex_);
  if (!is_of(hub)) return;
  std::erase_if(known_, [](const auto& one) { return !one.second.told; });
  publish(std::move(lock));
}

// ---- What is kept and published -----------------------------------------------------------------------------------

/// Read by controller/endpoints/cluster_directory.h. Empty where there is no identity: nobody calls, nobody is called.
std::string Traffic::directory() const {
  if (identity_.certificate.empty()) return {};
  std::string peers;
  json clusters = json::array();
  for (const auto& [name, known] : known_) {
    if (known.news.gone || name == identity_.cluster) continue;
    peers += program::cluster_uri(name) + " " + std::to_string(known.news.issued_after_ms) + "\n";
    clusters.push_back(json_of(known.news));
  }
  return json_line(json{{"cluster", identity_.cluster},
                        {"certificate", identity_.certificate},
                        {"key", identity_.key},
                        {"authorities", identity_.authorities},
                        {"peers", peers},
                        {"clusters", std::move(clusters)}});
}

std::string Traffic::text() const {
  json known = json::array();
  for (const auto& [name, one] : known_) {
    if (!one.news.gone) known.push_back(json_of(one.news));
  }
  json said = json::object();
  for (const auto& [name, exports] : said_) said[name] = json_of(exports);
  return json_line(json{{"identity",
                         {{"cluster", identity_.cluster},
                          {"certificate", identity_.certificate},
                          {"key", identity_.key},
                          {"authorities", identity_.authorities},
                          {"hub", identity_.hub},
                          {"joinedWith", identity_.joined_with},
                          {"from", milliseconds_of(identity_.from)},
                          {"until", milliseconds_of(identity_.until)}}},
                        {"clusters", std::move(known)},
                        {"exports", std::move(said)}});
}

void Traffic::load() {
  stamp_ = stamp_of(options_.file);
  auto read = read_file(options_.file, kMaxKeptBytes);
  if (read) return take_kept(std::move(*read));
  if (read.error().code != ErrorCode::kNotFound) options_.log.warn(read.error().text);
}

void Traffic::follow() {
  if (!options_.shared) return;
  std::unique_lock lock(mutex_);
  follows_ = true;
  if (stamp_of(options_.file) == stamp_) return;
  load();
  publish(std::move(lock));
}

void Traffic::take_kept(std::string text) {
  if (text == kept_) return;
  const json root = parse_json(text);
  const json& identity = member_in(root, "identity");
  identity_ = {.cluster = text_in(identity, "cluster"),
               .certificate = text_in(identity, "certificate"),
               .key = text_in(identity, "key"),
               .authorities = text_in(identity, "authorities"),
               .hub = text_in(identity, "hub"),
               .joined_with = text_in(identity, "joinedWith"),
               .from = time_of(integer_in(identity, "from")),
               .until = time_of(integer_in(identity, "until"))};
  known_.clear();
  said_.clear();
  for (const json& one : list_in(root, "clusters")) {
    ClusterNews news = news_in(one);
    std::string cluster = news.cluster;
    if (!cluster.empty()) set_known(cluster, std::move(news));
  }
  const json& said = member_in(root, "exports");
  if (said.is_object()) {
    for (const auto& [name, exports] : said.items()) said_[name] = exports_in(exports);
  }
  kept_ = std::move(text);
}

void Traffic::publish(std::unique_lock<std::mutex> lock) {
  const std::unique_lock<std::mutex> held = std::move(lock);
  std::string text = this->text();
  if (text != kept_ && !follows_) {
    if (Status status = write_file(options_.file, std::string_view(text), FileAccess::kOwnerOnly); !status) {
      options_.log.warn("what is known of other clusters is not kept: " + status.error().text);
    } else {
      kept_ = std::move(text);
      stamp_ = stamp_of(options_.file);
    }
  }
  std::string next = directory();
  if (next == published_) return;
  published_ = next;
  // Under the lock, so that of two the later comes last; it is only queued there.
  if (options_.changed) options_.changed(std::move(next));
}

}  // namespace edge::controller::remote
