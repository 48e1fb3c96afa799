#include "controller/resource_api/storage/store.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/storage/wal_check.h"

namespace edge::resource_api {
namespace {

using Json = nlohmann::json;

// Counted with each event beside the two texts, of which the elder is seldom held by anyone else.
constexpr std::size_t kEventOverhead = 256;

std::size_t cost_of(const Event& event) {
  return kEventOverhead + (event.before ? event.before->text.size() : 0) +
         (event.type == Event::Type::kDeleted ? event.object->text.size() : 0);
}

std::shared_ptr<Object> object_of(const Json& value, std::string text) {
  const auto metadata = value.find("metadata");
  if (metadata == value.end() || !metadata->is_object()) return nullptr;
  auto object = std::make_shared<Object>();
  object->key = {text_in(*metadata, "namespace"), text_in(*metadata, "name")};
  object->uid = text_in(*metadata, "uid");
  const std::string version = text_in(*metadata, "resourceVersion");
  std::from_chars(version.data(), version.data() + version.size(), object->version);
  if (object->key.name.empty() || object->uid.empty() || object->version <= 0) return nullptr;
  object->deleting = metadata->contains("deletionTimestamp");
  if (const auto labels = metadata->find("labels"); labels != metadata->end() && labels->is_object()) {
    for (const auto& [name, label] : labels->items()) {
      if (label.is_string()) object->labels.emplace_back(name, label.get<std::string>());
    }
  }
  if (const auto owners = metadata->find("ownerReferences"); owners != metadata->end() && owners->is_array()) {
    for (const Json& owner : *owners) {
      if (owner.is_object()) object->owners.push_back(text_in(owner, "uid"));
    }
  }
  text.shrink_to_fit();
  object->text = std::move(text);
  return object;
}

/// Both files of a database whose log is damaged, before SQLite begins the log anew: what can be had from them is had.
Status keep_damaged(const std::string& path, const WalLoss& loss, const Logger& log) {
  std::string to = path + ".damaged";
  std::error_code error;
  for (int i = 2; std::filesystem::exists(to, error); ++i) to = path + ".damaged." + std::to_string(i);
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(path + suffix, to + suffix, error);
    if (error) return Error{ErrorCode::kUnavailable, to + suffix + ": " + error.message()};
  }
  log.error(
      "resource api: the log of the database is damaged in the middle, changes after the damage are lost; the damaged "
      "files are kept",
      {{"log", path + "-wal"},
       {"changes_lost", std::to_string(loss.lost)},
       {"changes_before", std::to_string(loss.kept)},
       {"kept_as", to}});
  return {};
}

}  // namespace

ObjectPtr read_object_text(std::string text) {
  const Json value = Json::parse(text, nullptr, false);
  return value.is_object() ? object_of(value, std::move(text)) : nullptr;
}

ObjectPtr with_version(const Object& object, std::int64_t version) {
  auto copy = std::make_shared<Object>(object);
  Json value = Json::parse(object.text, nullptr, false);
  value["metadata"]["resourceVersion"] = std::to_string(version);
  copy->version = version;
  copy->text = value.dump();
  return copy;
}

Store::Store(std::unique_ptr<Database> database, HistoryLimits limits)
    : database_(std::move(database)), limits_(limits), version_(database_->version()) {}

Result<std::unique_ptr<Store>> Store::open(const std::string& path, HistoryLimits limits, const Logger& log) {
  const std::string wal = path + "-wal";
  const auto loss = check_wal(wal);
  if (!loss) return loss.error();
  if (loss->lost > 0) {
    if (Status kept = keep_damaged(path, *loss, log); !kept) return kept.error();
  }
  auto database = Database::open(path);
  if (!database) return database.error();
  if (loss->lost > 0) {
    log.error("resource api: what is served now is the last state before the damage",
              {{"resource_version", std::to_string((*database)->version())}});
  }
  auto store = std::unique_ptr<Store>(new Store(std::move(*database), limits));
  if (Status status = store->load(log); !status) return status.error();
  return store;
}

Status Store::load(const Logger& log) {
  const auto mutable_named = [this](std::string_view name) -> Collection& {
    return mutable_collection(collection(name));
  };
  Status status = database_->each_object([&](const Database::ObjectRow& row) {
    const ObjectPtr object = read_object_text(std::string(row.text));
    if (object) return replace(mutable_named(row.collection), nullptr, object);
    log.warn("resource api: the database contains an invalid object; it is left out",
             {{"collection", std::string(row.collection)},
              {"name", std::string(row.name_space) + "/" + std::string(row.name)}});
  });
  if (!status) return status;
  // A row says what a change found. What it left is what the change after it found, or what is there now; so the
  // history is read from its end, and `after` is what the rows read so far have found.
  std::map<std::pair<const Collection*, ObjectKey>, ObjectPtr> after;
  status = database_->each_history([&](const Database::HistoryRow& row) {
    Collection& collection = mutable_named(row.collection);
    ObjectKey key{std::string(row.name_space), std::string(row.name)};
    Event event;
    event.version = row.version;
    event.before = row.created ? nullptr : read_object_text(std::string(row.before));
    const auto known = after.find({&collection, key});
    event.object = known != after.end() ? known->second : find(collection, key);
    event.type = !event.object ? Event::Type::kDeleted : row.created ? Event::Type::kAdded : Event::Type::kModified;
    after[{&collection, std::move(key)}] = event.before;
    if (!event.object && event.before) event.object = with_version(*event.before, row.version);
    if (!event.object) return;
    collection.history_bytes += cost_of(event);
    collection.history.push_front(std::move(event));
  });
  if (!status) return status;
  return database_->each_floor(
      [&](std::string_view name, std::int64_t version) { mutable_named(name).floor = version; });
}

const Collection& Store::collection(std::string_view name) {
  auto found = collections_.find(name);
  if (found == collections_.end()) {
    found = collections_.emplace(name, std::make_unique<Collection>(std::string(name))).first;
  }
  return *found->second;
}

std::vector<const Collection*> Store::collections() const {
  std::vector<const Collection*> all;
  all.reserve(collections_.size());
  for (const auto& [name, collection] : collections_) all.push_back(collection.get());
  return all;
}

Collection& Store::mutable_collection(const Collection& collection) const {
  return *collections_.find(collection.name)->second;
}

ObjectPtr Store::find(const Collection& collection, const ObjectKey& key) const {
  const auto found = collection.objects.find(key);
  return found == collection.objects.end() ? nullptr : found->second;
}

Store::Location Store::find_uid(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? Location{} : found->second;
}

std::vector<Store::Location> Store::owned_by(std::string_view uid) const {
  std::vector<Location> places;
  const auto found = owned_.find(std::string(uid));
  if (found == owned_.end()) return places;
  for (const auto& [collection, key] : found->second) {
    if (ObjectPtr object = find(*collection, key)) places.push_back({collection, std::move(object)});
  }
  return places;
}

std::map<ObjectKey, ObjectPtr> Store::differences_since(const Collection& collection, std::int64_t version) {
  std::map<ObjectKey, ObjectPtr> differences;
  const auto first = std::upper_bound(collection.history.begin(), collection.history.end(), version,
                                      [](std::int64_t at, const Event& event) { return at < event.version; });
  // The first change after `version` found what was there at it.
  for (auto event = first; event != collection.history.end(); ++event) {
    differences.emplace(event->object->key, event->before);
  }
  return differences;
}

ObjectPtr Store::put(const Collection& collection, Json value) {
  Collection& target = mutable_collection(collection);
  value.erase("apiVersion");
  value.erase("kind");
  Event event;
  event.version = ++version_;
  value["metadata"]["resourceVersion"] = std::to_string(event.version);
  // Texts from outside have been checked to be UTF-8 when they were parsed.
  std::string text = json_line(value);
  event.object = object_of(value, std::move(text));
  event.before = find(target, event.object->key);
  event.type = event.before ? Event::Type::kModified : Event::Type::kAdded;
  ObjectPtr object = event.object;
  stage(target, std::move(event));
  return object;
}

void Store::remove(const Collection& collection, const ObjectKey& key) {
  Collection& target = mutable_collection(collection);
  Event event;
  event.before = find(target, key);
  if (!event.before) return;
  event.version = ++version_;
  event.type = Event::Type::kDeleted;
  event.object = with_version(*event.before, event.version);
  stage(target, std::move(event));
}

void Store::show(const Collection& collection, const ObjectKey& key, std::string text) {
  const ObjectPtr was = find(collection, key);
  auto now = std::make_shared<Object>(*was);
  text.shrink_to_fit();
  now->text = std::move(text);
  replace(mutable_collection(collection), was, now);
}

void Store::stage(Collection& collection, Event event) {
  replace(collection, event.before, event.type == Event::Type::kDeleted ? nullptr : event.object);
  collection.history_bytes += cost_of(event);
  collection.history.push_back(event);
  staged_.push_back({&collection, std::move(event)});
}

void Store::replace(Collection& collection, const ObjectPtr& was, const ObjectPtr& now) {
  if (was) {
    by_uid_.erase(was->uid);
    for (const std::string& owner : was->owners) {
      const auto owned = owned_.find(owner);
      if (owned == owned_.end()) continue;
      std::erase(owned->second, std::pair<const Collection*, ObjectKey>(&collection, was->key));
      if (owned->second.empty()) owned_.erase(owned);
    }
    if (!now) collection.objects.erase(was->key);
  }
  if (!now) return;
  collection.objects[now->key] = now;
  by_uid_[now->uid] = {&collection, now};
  for (const std::string& owner : now->owners) owned_[owner].emplace_back(&collection, now->key);
}

Result<std::vector<Committed>> Store::commit() {
  std::vector<Committed> done;
  if (staged_.empty()) return done;
  std::vector<Change> changes;
  std::vector<Collection*> touched;
  changes.reserve(staged_.size());
  for (const Staged& staged : staged_) {
    const Event& event = staged.event;
    changes.push_back({event.version, staged.collection->name, event.object->key.name_space, event.object->key.name,
                       event.type == Event::Type::kDeleted ? nullptr : &event.object->text,
                       event.before ? &event.before->text : nullptr});
    if (std::find(touched.begin(), touched.end(), staged.collection) == touched.end()) {
      touched.push_back(staged.collection);
    }
  }
  const std::vector<std::vector<std::int64_t>> old = plan_forgetting(touched);
  std::vector<Forgotten> forgotten;
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (!old[i].empty()) forgotten.push_back({touched[i]->name, old[i].back(), old[i]});
  }
  if (const Status status = database_->write(changes, forgotten); !status) {
    undo();
    return status.error();
  }
  for (std::size_t i = 0; i < touched.size(); ++i) forget(*touched[i], old[i].size());
  done.reserve(staged_.size());
  for (Staged& staged : staged_) done.push_back({staged.collection, std::move(staged.event)});
  staged_.clear();
  return done;
}

std::vector<std::vector<std::int64_t>> Store::plan_forgetting(std::vector<Collection*>& collections) const {
  std::vector<std::vector<std::int64_t>> plan(collections.size());
  for (std::size_t i = 0; i < collections.size(); ++i) {
    std::size_t events = collections[i]->history.size();
    std::size_t bytes = collections[i]->history_bytes;
    for (const Event& event : collections[i]->history) {
      if (events <= limits_.events && bytes <= limits_.bytes) break;
      plan[i].push_back(event.version);
      --events;
      bytes -= cost_of(event);
    }
  }
  return plan;
}

void Store::forget(Collection& collection, std::size_t events) {
  for (std::size_t i = 0; i < events; ++i) {
    collection.floor = collection.history.front().version;
    collection.history_bytes -= cost_of(collection.history.front());
    collection.history.pop_front();
  }
}

void Store::undo() {
  for (auto staged = staged_.rbegin(); staged != staged_.rend(); ++staged) {
    const Event& event = staged->event;
    replace(*staged->collection, event.type == Event::Type::kDeleted ? nullptr : event.object, event.before);
    staged->collection->history_bytes -= cost_of(event);
    staged->collection->history.pop_back();
  }
  version_ = staged_.front().event.version - 1;
  staged_.clear();
}

}  // namespace edge::resource_api
