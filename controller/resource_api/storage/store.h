// All objects in memory, as the compact text that is sent, and on the disk (database.h); and per collection the latest
// changes, from which watches resume and lists continue at the version that they began with.
//
// Changes are staged and become durable together by `commit`, or not at all. Reads see what is staged.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/log.h"
#include "base/result.h"
#include "controller/resource_api/storage/database.h"

namespace edge::resource_api {

struct ObjectKey {
  std::string name_space;  ///< empty: of the cluster
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
};

struct Object {
  ObjectKey key;
  std::string uid;
  std::int64_t version = 0;
  bool deleting = false;  ///< has a deletionTimestamp
  std::vector<std::pair<std::string, std::string>> labels{};
  std::vector<std::string> owners{};  ///< their uids
  /// The object without apiVersion and kind, which are those of the version that it is read in (render.h).
  std::string text;
};
using ObjectPtr = std::shared_ptr<const Object>;

struct Event {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  std::int64_t version = 0;
  Type type = Type::kAdded;
  /// As it is since; of a deletion the last state, with the deletion's version.
  ObjectPtr object{};
  ObjectPtr before{};
};

struct Collection {
  explicit Collection(std::string name_in) : name(std::move(name_in)) {}

  std::string name;
  std::map<ObjectKey, ObjectPtr> objects{};
  std::deque<Event> history{};
  std::size_t history_bytes = 0;
  /// What happened up to this version is forgotten.
  std::int64_t floor = 0;
};

struct HistoryLimits {
  std::size_t events = 8192;
  std::size_t bytes = std::size_t{16} << 20;
};

/// What a commit has made durable.
struct Committed {
  const Collection* collection;
  Event event;
};

class Store {
 public:
  /// Where an object is; `collection` lives as long as the Store.
  struct Location {
    const Collection* collection = nullptr;
    ObjectPtr object{};
  };

  static Result<std::unique_ptr<Store>> open(const std::string& path, HistoryLimits limits, const Logger& log);

  /// The newest version given to a change, staged ones included.
  std::int64_t version() const { return version_; }
  std::size_t object_count() const { return by_uid_.size(); }

  /// Made when it is asked for; its address stays.
  const Collection& collection(std::string_view name);
  /// All there are, of kinds that are not served at the time, too.
  std::vector<const Collection*> collections() const;
  ObjectPtr find(const Collection& collection, const ObjectKey& key) const;
  /// An object by uid, nullptr in `object` when there is none.
  Location find_uid(std::string_view uid) const;
  /// The objects that name `uid` as an owner.
  std::vector<Location> owned_by(std::string_view uid) const;

  /// What was at `version` where that differs from now: nullptr for what did not exist. Precondition: version >= floor.
  static std::map<ObjectKey, ObjectPtr> differences_since(const Collection& collection, std::int64_t version);

  /// Creates or replaces. Sets metadata.resourceVersion; apiVersion and kind are left out. Precondition: metadata.uid
  /// and name are set.
  ObjectPtr put(const Collection& collection, nlohmann::json object);
  void remove(const Collection& collection, const ObjectKey& key);
  /// From now on the object is read as `text`: the stored one with defaults. No change: its version stays, and so does
  /// what is on the disk. Precondition: nothing is staged, the object is there.
  void show(const Collection& collection, const ObjectKey& key, std::string text);

  bool staged() const { return !staged_.empty(); }
  /// On an error everything is as before the first change that was staged.
  Result<std::vector<Committed>> commit();

 private:
  struct Staged {
    Collection* collection;
    Event event;
  };

  Store(std::unique_ptr<Database> database, HistoryLimits limits);
  Status load(const Logger& log);
  Collection& mutable_collection(const Collection& collection) const;
  void stage(Collection& collection, Event event);
  /// Puts `now` in the place of `was` in the maps; either may be null.
  void replace(Collection& collection, const ObjectPtr& was, const ObjectPtr& now);
  std::vector<std::vector<std::int64_t>> plan_forgetting(std::vector<Collection*>& collections) const;
  void forget(Collection& collection, std::size_t events);
  void undo();

  std::unique_ptr<Database> database_;
  HistoryLimits limits_;
  std::int64_t version_ = 0;
  std::map<std::string, std::unique_ptr<Collection>, std::less<>> collections_{};
  // The views are of the uid of the object that is the value.
  std::unordered_map<std::string_view, Location> by_uid_{};
  std::unordered_map<std::string, std::vector<std::pair<const Collection*, ObjectKey>>> owned_{};
  std::vector<Staged> staged_{};
};

/// The object of a stored text; nullptr when it is none.
ObjectPtr read_object_text(std::string text);
/// The same object as it was, under another version.
ObjectPtr with_version(const Object& object, std::int64_t version);

}  // namespace edge::resource_api
