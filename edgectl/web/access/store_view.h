// The live copy of the objects as one viewer may see it: the only way by which calls read it, so that nothing of what a
// viewer may not list comes into a reply.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/web/access/visible.h"
#include "edgectl/web/api/object_store.h"

namespace edge::edgectl::web {

class StoreView {
 public:
  using Visitor = std::function<void(const std::string& key, const StoredObject& object)>;

  /// Both outlive the view.
  StoreView(const ObjectStore& store, const Visible& visible) : store_(store), visible_(visible) {}

  const Visible& visible() const { return visible_; }
  /// The kinds of which the viewer may list something.
  std::vector<const StoredKind*> kinds() const;
  /// nullptr: not a kind that is stored, or none of which the viewer may list something.
  const StoredKind* find(std::string_view plural) const;
  const StoredKind* find_kind(std::string_view kind) const;
  /// Visits the objects that may be listed, ascending by key. Use it in place of StoredKind::objects.
  void each(const StoredKind& kind, const Visitor& visit) const;
  /// nullptr: there is none that may be listed. `key`: `namespace/name`, or `name`.
  const StoredObject* find_object(const StoredKind& kind, std::string_view key) const;
  /// Objects beyond the store's limit, where the viewer may list all of the kind.
  std::size_t left_out(const StoredKind& kind) const;
  /// As ObjectStore::referring_to.
  std::vector<Reference> referring_to(const Reference& object) const;
  /// Returns whether an object of one of the kinds has this name, `namespace/name`, and may be listed.
  bool names(std::span<const std::string_view> kinds, std::string_view key) const;
  /// Returns whether a sentence has the name, `namespace/name`, of an object that there is and that may not be listed.
  bool names_hidden(std::string_view sentence) const;

 private:
  const ObjectStore& store_;
  const Visible& visible_;
};

/// The kinds that a name in programs and statistics may be of.
std::span<const std::string_view> route_kinds();
std::span<const std::string_view> gateway_kinds();
std::span<const std::string_view> backend_kinds();

}  // namespace edge::edgectl::web
