// All objects in memory, as compact text ready to send, and on disk (database.h); and per collection the latest
// changes, from which watches resume and lists continue at their version.
//
// Changes are staged and become durable together by `commit`, or not at all. Reads see staged changes.
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
  std::string name_space;  ///< empty: cluster-scoped
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
};

struct Object {
  ObjectKey key;
  std::string uid;
  std::int64_t version = 0;
  bool deleting = false;  ///< has a deletionTimestamp
  std::vector<std::pair<std::string, std::string>> labels{};
  std::vector<std::string> owners{};  ///< uids
  /// The object without apiVersion and kind, which are those of the requested version (render.h).
  std::string text;
};
using ObjectPtr = std::shared_ptr<const Object>;

struct Event {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  std::int64_t version = 0;
  Type type = Type::kAdded;
  /// The state after the event; for a deletion the last state, with the deletion's version.
  ObjectPtr object{};
  ObjectPtr before{};
};

struct Collection {
  explicit Collection(std::string name_in) : name(std::move(name_in)) {}

  std::string name;
  std::map<ObjectKey, ObjectPtr> objects{};
  std::deque<Event> history{};
  std::size_t history_bytes = 0;
  /// Up to which version the history was deleted.
  std::int64_t floor = 0;
};

struct HistoryLimits {
  std::size_t events = 8192;
  std::size_t bytes = std::size_t{16} << 20;
};

/// A change that a commit has made durable.
struct Committed {
  const Collection* collection;
  Event event;
};

class Store {
 public:
  /// A reference to an object; `collection` lives as long as the Store.
  struct Location {
    const Collection* collection = nullptr;
    ObjectPtr object{};
  };

  static Result<std::unique_ptr<Store>> open(const std::string& path, HistoryLimits limits, const Logger& log);

  /// Returns the newest version assigned to a change, including staged ones.
  std::int64_t version() const { return version_; }
  std::size_t object_count() const { return by_uid_.size(); }

  /// Returns a collection, created at the first call; its address is stable.
  const Collection& collection(std::string_view name);
  /// Returns all collections, including those of kinds that are not served at the time.
  std::vector<const Collection*> collections() const;
  ObjectPtr find(const Collection& collection, const ObjectKey& key) const;
  /// Finds an object by uid; nullptr in `object` when there is none.
  Location find_uid(std::string_view uid) const;
  /// Returns the objects that name `uid` as an owner.
  std::vector<Location> owned_by(std::string_view uid) const;

  /// Returns the objects at `version` that differ from now: nullptr for those that did not exist. Precondition: version
  /// >= floor.
  static std::map<ObjectKey, ObjectPtr> differences_since(const Collection& collection, std::int64_t version);

  /// Creates or replaces an object. Sets metadata.resourceVersion; removes apiVersion and kind. Precondition:
  /// metadata.uid and name are set.
  ObjectPtr put(const Collection& collection, nlohmann::json object);
  void remove(const Collection& collection, const ObjectKey& key);
  /// Replaces the text that reads return: the stored object with defaults. Not a change: the version and the copy on
  /// disk stay. Precondition: nothing is staged, the object exists.
  void show(const Collection& collection, const ObjectKey& key, std::string text);

  bool staged() const { return !staged_.empty(); }
  /// On an error the state is as before the first staged change.
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
  /// Replaces `was` by `now` in the maps; either may be null.
  void replace(Collection& collection, const ObjectPtr& was, const ObjectPtr& now);
  std::vector<std::vector<std::int64_t>> plan_forgetting(std::vector<Collection*>& collections) const;
  void forget(Collection& collection, std::size_t events);
  void undo();

  std::unique_ptr<Database> database_;
  HistoryLimits limits_;
  std::int64_t version_ = 0;
  std::map<std::string, std::unique_ptr<Collection>, std::less<>> collections_{};
  // The keys are views of the uid of the object in the value.
  std::unordered_map<std::string_view, Location> by_uid_{};
  std::unordered_map<std::string, std::vector<std::pair<const Collection*, ObjectKey>>> owned_{};
  std::vector<Staged> staged_{};
};

/// Parses a stored text; nullptr when it is invalid.
ObjectPtr read_object_text(std::string text);
/// Returns the same object with another version.
ObjectPtr with_version(const Object& object, std::int64_t version);

}  // namespace edge::resource_api
