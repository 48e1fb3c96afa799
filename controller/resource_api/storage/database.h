// Persistent storage of objects: SQLite in WAL mode, each batch of changes one transaction that is on disk when `write`
// returns. It is read at the start only: the Store (store.h) has everything in memory.
//
//   objects(collection, namespace, name, version, text)           current objects
//   history(version, collection, namespace, name, before)         the state before each change, for watches that resume
//   floors(collection, version)                                   up to which version the history was deleted
//   facts(name, value)                                            `version`: the newest ever assigned
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::resource_api {

/// One change of one object.
struct Change {
  std::int64_t version = 0;
  std::string_view collection;
  std::string_view name_space;
  std::string_view name;
  /// nullptr: removed.
  const std::string* text = nullptr;
  /// nullptr: it did not exist.
  const std::string* before = nullptr;
};

/// History to be deleted.
struct Forgotten {
  std::string_view collection;
  std::int64_t floor = 0;                  ///< the newest version among them
  std::span<const std::int64_t> versions;  ///< those on disk
};

class Database {
 public:
  struct ObjectRow {
    std::string_view collection, name_space, name, text;
    std::int64_t version = 0;
  };
  struct HistoryRow {
    std::string_view collection, name_space, name;
    std::int64_t version = 0;
    bool created = false;
    std::string_view before;  ///< empty when created
  };

  /// Creates the file when missing. kFailedPrecondition: it is from a newer version, or another program; kUnavailable:
  /// it cannot be opened or is locked; kDataLoss: it is not a database.
  static Result<std::unique_ptr<Database>> open(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  std::int64_t version() const { return version_; }
  Status each_object(const std::function<void(const ObjectRow&)>& visit);
  /// Visits rows by version, the newest first.
  Status each_history(const std::function<void(const HistoryRow&)>& visit);
  Status each_floor(const std::function<void(std::string_view collection, std::int64_t version)>& visit);

  /// Writes everything or nothing. kResourceExhausted: the disk is full; kUnavailable: locked, or another disk error.
  Status write(std::span<const Change> changes, std::span<const Forgotten> forgotten);

 private:
  struct Handles;
  explicit Database(std::unique_ptr<Handles> handles);
  Status write_all(std::span<const Change> changes, std::span<const Forgotten> forgotten);
  std::unique_ptr<Handles> handles_;
  std::int64_t version_ = 0;
};

}  // namespace edge::resource_api
