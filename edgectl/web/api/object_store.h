// A live copy of the objects that make up the configuration, by list and watch with the rights of whoever runs the
// server. Never holds Secrets, nor objects that can only be had with them.
//
// For the client's loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/kube/discovery.h"
#include "controller/kube/informer.h"
#include "edgectl/resources/columns.h"
#include "edgectl/web/api/object_facts.h"
#include "schemas/schema.h"

namespace edge::edgectl::web {

struct StoredObject {
  std::string name_space, name, uid;
  std::string text;  ///< JSON, without managed fields
  std::string created;
  std::vector<std::string> cells;  ///< of the kind's columns; `created` in place of an age
  Verdict verdict;
  std::vector<Reference> references;
};

struct StoredKind {
  explicit StoredKind(const schemas::Kind& of);

  const schemas::Kind& kind;
  kube::Resource resource{};  ///< empty while the server does not serve it
  bool served = false;
  Columns columns;
  std::vector<std::string> heads;                              ///< of `cells`
  std::map<std::string, StoredObject, std::less<>> objects{};  ///< by `namespace/name`
  std::size_t left_out = 0;                                    ///< beyond kMostObjects
  bool synced = false;
  std::string fault{};  ///< why it cannot be read now; empty: it can
  std::unique_ptr<kube::Informer> informer{};
};

/// `text`: null for an object that is gone.
using ChangeVisitor = std::function<void(std::string_view plural, std::string_view key, const std::string* text)>;

class ObjectStore {
 public:
  /// Limit per kind; further objects are counted only.
  static constexpr std::size_t kMostObjects = 50'000;

  /// `changed` is called for every change, with the plural of the kind.
  ObjectStore(kube::Client& client, std::function<void(std::string_view plural)> changed);

  void start();
  /// Ends what is in progress. To be called before the loop ends.
  void stop();

  /// Adds or replaces an object, as its informer does.
  void put(StoredKind& kind, kube::Object object);

  const std::vector<std::unique_ptr<StoredKind>>& kinds() const { return kinds_; }
  /// nullptr: not a kind that is stored.
  const StoredKind* find(std::string_view plural) const;
  const StoredKind* find_kind(std::string_view kind) const;
  /// Returns the objects that refer to one, ascending; at most kMostReferences.
  std::vector<Reference> referring_to(const Reference& object) const;

  /// Counts changes.
  std::uint64_t version() const { return version_; }
  /// Returns whether every kind that is served has been listed.
  bool synced() const;
  /// Returns whether `take_changes` would tell of any.
  bool has_changes() const { return missed_ || !touched_.empty(); }
  /// Tells of the objects that were added, changed or removed since it was called last; of all of them with `all`, and
  /// where there were too many to remember each: then not of removed ones. Returns whether it told of all.
  bool take_changes(bool all, const ChangeVisitor& visit);
  /// Returns why the server cannot be asked for its kinds; empty: it can.
  const std::string& fault() const { return fault_; }

 private:
  net::Detached discover();
  void follow(StoredKind& kind, const kube::Resource& resource);
  void tell(const StoredKind& kind);
  void touch(const StoredKind& kind, const std::string& key);

  kube::Client& client_;
  kube::Discovery discovery_;
  net::Waiter waiter_;
  std::function<void(std::string_view)> changed_;
  std::vector<std::unique_ptr<StoredKind>> kinds_;
  std::uint64_t version_ = 0;
  std::string fault_;
  std::set<std::pair<std::string_view, std::string>> touched_;  ///< plural and key, not taken yet
  bool missed_ = true;                                          ///< more than these: all objects count as touched
};

/// Returns whether objects of the kind are never stored: Secrets, and what changes with every pod.
bool is_left_out(std::string_view kind);

}  // namespace edge::edgectl::web
