#include "controller/federation/run/api_follower.h"

#include <charconv>
#include <utility>
#include <vector>

#include "schemas/schema.h"

namespace edge::federation {
namespace {

using namespace std::chrono_literals;

constexpr net::Duration kLookSoon = 2s;
constexpr net::Duration kLookLater = 60s;
constexpr const char* kManager = "edge-federation";

/// 0: no number.
std::uint64_t number_of(const std::string& version) {
  std::uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

ObjectKey key_of(const std::string& kind, const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {kind, {}, path};
  return {kind, path.substr(0, slash), path.substr(slash + 1)};
}

std::string path_in(const ObjectKey& key) {
  return key.name_space.empty() ? key.name : key.name_space + "/" + key.name;
}

/// The version that the tables name, else the first of the group that can be watched.
const kube::Resource* find_resource(const kube::ResourceTable& table, const schemas::Kind& kind) {
  if (const kube::Resource* exact = table.find_kind(kind.api_version, kind.kind)) return exact;
  const std::size_t slash = kind.api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : kind.api_version.substr(0, slash);
  for (const kube::Resource& resource : table.all()) {
    if (resource.group == group && resource.kind == kind.kind && resource.has_verb("watch")) return &resource;
  }
  return nullptr;
}

}  // namespace

ApiFollower::ApiFollower(kube::Client& client, Logger log, ApiEvents events)
    : client_(client), log_(std::move(log)), events_(std::move(events)), discovery_(client), waiter_(client.loop()) {}

ApiFollower::~ApiFollower() = default;

void ApiFollower::set_kinds(const std::set<std::string>& kinds) {
  if (kinds == wanted_) return;
  wanted_ = kinds;
  for (auto kind = kinds_.begin(); kind != kinds_.end();) {
    if (wanted_.contains(kind->first)) {
      ++kind;
      continue;
    }
    std::erase_if(objects_, [&](const auto& entry) { return entry.first.kind == kind->first; });
    faults_.erase(kind->first);
    kind = kinds_.erase(kind);
  }
  if (discovering_) {
    waiter_.wake_later();
  } else if (!stopping_) {
    discover();
  }
}

net::Detached ApiFollower::discover() {
  discovering_ = true;
  while (!stopping_) {
    const kube::DiscoveryReply reply = co_await discovery_.refresh(waiter_);
    if (stopping_) break;
    bool missing = !reply.ok();
    for (const std::string& name : wanted_) {
      if (!reply.ok() || kinds_.contains(name)) continue;
      const schemas::Kind* const kind = schemas::find_kind(name);
      const kube::Resource* const resource = kind == nullptr ? nullptr : find_resource(reply.table, *kind);
      if (resource != nullptr) {
        follow(name, *resource);
        continue;
      }
      missing = true;
      faults_[name] = "the API of this cluster does not serve " + name;
    }
    const net::Time again = client_.loop().now() + (missing ? kLookSoon : kLookLater);
    co_await waiter_.wait(again);
  }
  discovering_ = false;
  finish_when_idle();
}

void ApiFollower::follow(const std::string& kind, const kube::Resource& resource) {
  faults_.erase(kind);
  kube::InformerEvents events;
  events.changed = [this, kind](const kube::Object& object) { take(kind, object); };
  events.removed = [this, kind](const std::string& path) { gone(key_of(kind, path)); };
  events.synced = [this, kind] { events_.listed(kind); };
  events.connection = [this, kind](bool connected, const kube::Failure& failure) {
    if (connected) {
      faults_.erase(kind);
    } else {
      faults_[kind] = kind + " cannot be read of the API of this cluster: " + failure.text();
    }
  };
  auto informer = std::make_unique<kube::Informer>(client_, resource, kube::InformerOptions{}, std::move(events));
  kube::Informer& started = *informer;
  kinds_.insert_or_assign(kind, Kind{std::move(informer), resource});
  started.start();
}

void ApiFollower::keep(const ObjectKey& key, const kube::Object& object) {
  auto read = read_api_object(object.text);
  if (!read) {
    log_.warn(key.kind + " " + object.key() + " is not federated: " + read.error().text);
    return;
  }
  if (const auto deleted = deleted_.find(key); deleted != deleted_.end()) {
    // What was on its way when we deleted it.
    if (deleted->second == read->uid) {
      read->ending = true;
    } else {
      deleted_.erase(deleted);
    }
  }
  objects_.insert_or_assign(key, std::move(*read));
}

void ApiFollower::take(const std::string& kind, const kube::Object& object) {
  const ObjectKey key{kind, object.name_space, object.name};
  if (const auto written = written_.find(key); written != written_.end()) {
    const std::uint64_t version = number_of(object.resource_version);
    const auto known = objects_.find(key);
    const bool same_object = known != objects_.end() && known->second.uid == object.uid;
    if (version < written->second && same_object) return;
    written_.erase(written);
    // What the reply to our write said already.
    if (same_object && known->second.resource_version == object.resource_version) return;
  }
  keep(key, object);
  events_.changed(key);
}

void ApiFollower::gone(const ObjectKey& key) {
  written_.erase(key);
  deleted_.erase(key);
  if (objects_.erase(key) > 0) events_.changed(key);
}

bool ApiFollower::is_listed(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  return found != kinds_.end() && found->second.informer->synced() && !found->second.informer->version().empty();
}
std::uint64_t ApiFollower::lists(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? 0 : found->second.informer->lists();
}
std::uint64_t ApiFollower::version(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? 0 : number_of(found->second.informer->version());
}
const ApiObject* ApiFollower::find(const ObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

void ApiFollower::put(const ObjectKey& key, const std::string& content, const std::string& origin) {
  const ApiObject* const now = find(key);
  auto object = written_object(content, origin, now);
  if (!object) return events_.wrote(key, {ApiWrite::Outcome::kFailed, object.error().text});
  write(key, std::move(*object), now != nullptr);
}

void ApiFollower::remove(const ObjectKey& key) {
  const ApiObject* const now = find(key);
  if (now == nullptr) return events_.wrote(key, {});
  erase(key, now->uid, now->resource_version);
}

net::Detached ApiFollower::write(ObjectKey key, std::string object, bool exists) {
  net::Waiter waiter(client_.loop());
  writing_[key] = &waiter;
  const kube::Resource resource = kinds_.at(key.kind).resource;
  kube::WriteOptions options;
  options.field_manager = kManager;
  options.field_validation = "Ignore";
  kube::ObjectReply reply;
  if (exists) {
    reply = co_await client_.update(waiter, resource, key.name_space, key.name, object, options);
  } else {
    reply = co_await client_.create(waiter, resource, key.name_space, object, options);
  }
  ApiWrite result;
  if (reply.ok()) {
    // A watch may have told of a later one already.
    const ApiObject* const known = find(key);
    const std::uint64_t version = number_of(reply.object.resource_version);
    const bool later =
        known != nullptr && known->uid == reply.object.uid && number_of(known->resource_version) > version;
    if (!later) {
      written_[key] = version;
      keep(key, reply.object);
    }
  } else if (reply.failure.conflict() || reply.failure.already_exists() || (exists && reply.failure.not_found())) {
    result = co_await after_conflict(waiter, key);
  } else {
    result = {ApiWrite::Outcome::kFailed, reply.failure.text()};
  }
  finish(key, result);
}

net::Detached ApiFollower::erase(ObjectKey key, std::string uid, std::string resource_version) {
  net::Waiter waiter(client_.loop());
  writing_[key] = &waiter;
  const kube::Resource resource = kinds_.at(key.kind).resource;
  kube::DeleteOptions options;
  options.uid = uid;
  options.resource_version = resource_version;
  const kube::Reply reply = co_await client_.remove(waiter, resource, key.name_space, key.name, options);
  ApiWrite result;
  if (reply.ok() || reply.failure.not_found()) {
    const auto known = objects_.find(key);
    if (known != objects_.end() && known->second.uid == uid) {
      known->second.ending = true;
      deleted_[key] = uid;
    }
  } else if (reply.failure.conflict()) {
    result = co_await after_conflict(waiter, key);
  } else {
    result = {ApiWrite::Outcome::kFailed, reply.failure.text()};
  }
  finish(key, result);
}

net::Task<ApiWrite> ApiFollower::after_conflict(net::Waiter& waiter, ObjectKey key) {
  const auto kind = kinds_.find(key.kind);
  if (kind == kinds_.end()) co_return ApiWrite{ApiWrite::Outcome::kFailed, "the kind is not federated any more"};
  const kube::Resource resource = kind->second.resource;
  const kube::ObjectReply reply = co_await client_.get(waiter, resource, key.name_space, key.name);
  if (reply.ok()) {
    written_[key] = number_of(reply.object.resource_version);
    keep(key, reply.object);
    co_return ApiWrite{ApiWrite::Outcome::kChanged, {}};
  }
  if (reply.failure.not_found()) {
    written_.erase(key);
    objects_.erase(key);
    co_return ApiWrite{ApiWrite::Outcome::kChanged, {}};
  }
  co_return ApiWrite{ApiWrite::Outcome::kFailed, reply.failure.text()};
}

void ApiFollower::finish(const ObjectKey& key, const ApiWrite& write) {
  writing_.erase(key);
  if (!stopping_) events_.wrote(key, write);
  finish_when_idle();
}

void ApiFollower::look() {
  std::vector<ObjectKey> lost;
  for (auto written = written_.begin(); written != written_.end();) {
    const auto kind = kinds_.find(written->first.kind);
    if (kind == kinds_.end()) {
      written = written_.erase(written);
      continue;
    }
    const kube::Informer& informer = *kind->second.informer;
    const bool told = number_of(informer.version()) >= written->second;
    if (told && !informer.knows(path_in(written->first)) && !is_writing(written->first)) lost.push_back(written->first);
    written = told ? written_.erase(written) : std::next(written);
  }
  for (const ObjectKey& key : lost) {
    if (objects_.erase(key) > 0) events_.changed(key);
  }
}

void ApiFollower::stop(std::function<void()> done) {
  stopping_ = true;
  done_ = std::move(done);
  kinds_.clear();
  waiter_.cancel();
  for (const auto& [key, waiter] : std::map(writing_)) waiter->cancel();
  finish_when_idle();
}

void ApiFollower::finish_when_idle() {
  if (!stopping_ || discovering_ || !writing_.empty() || !done_) return;
  // Not within what has just come to its end.
  client_.loop().post(std::exchange(done_, nullptr));
}

}  // namespace edge::federation
