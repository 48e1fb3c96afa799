// What follows from a deletion, done in the background: dependents go with their owners or are let go, the content of a
// namespace goes with it, the objects of a CustomResourceDefinition with that.
//
// Nothing is stored on disk for it: the work is derived from the objects, and looked for at the start.
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "controller/resource_api/storage/changes.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

class Garbage {
 public:
  explicit Garbage(Changes& changes) : changes_(changes) {}

  /// Checks all objects once.
  void begin();
  /// Notes changes that may create or unblock garbage.
  void note(std::span<const Committed> committed);
  bool idle() const { return queue_.empty(); }
  /// Stages a bounded number of changes; the caller commits them and calls `note`.
  void work();

 private:
  using Item = std::pair<const Collection*, ObjectKey>;

  void push(const Collection& collection, const ObjectKey& key);
  void push_if_due(const Collection& collection, const Object& object);
  void push_owners(const Object& object);
  void look_at(const Item& item);
  void look_at_owned(const Collection& collection, const Object& object);
  void look_at_deleting(const Collection& collection, const Object& object);
  bool owner_lives(const nlohmann::json& reference, const Object& dependent) const;
  bool release_dependents(const Object& owner);
  bool remove_dependents(const Object& owner);
  bool empty_namespace(const std::string& name);
  bool empty_collection(const std::string& name);
  bool spend();
  void drop_finalizer(const Collection& collection, const Object& object, std::string_view finalizer);

  Changes& changes_;
  std::deque<Item> queue_{};
  std::set<Item> queued_{};
  std::size_t budget_ = 0;
};

}  // namespace edge::resource_api
