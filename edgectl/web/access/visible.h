// What one viewer may list, as the resource API has said: what a reply is filtered by.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "schemas/schema.h"

namespace edge::edgectl::web {

/// Immutable once it is shared.
class Visible {
 public:
  /// Of a viewer who may list every kind in every namespace, and see agents and act on them.
  static std::shared_ptr<const Visible> all();

  bool everything() const { return everything_; }
  /// `name_space`: empty for objects without one, which need the right for the whole cluster.
  bool may_list(const schemas::Kind& kind, std::string_view name_space) const;
  /// Returns whether objects of some namespace, or all, may be listed.
  bool may_list_some(const schemas::Kind& kind) const;
  /// `list`, and `update` or so, of `agents` in our API group: what agents and the history are (docs/web.md).
  bool may_see_agents() const { return everything_ || agents_; }
  bool may_change_agents() const { return changes_agents_; }

  void allow_everything() { everything_ = true; }
  void allow_agents(bool see, bool change) {
    agents_ = see;
    changes_agents_ = change;
  }
  void allow(const schemas::Kind& kind) { whole_.insert(&kind); }
  void allow(const schemas::Kind& kind, std::string name_space) { spaces_[&kind].insert(std::move(name_space)); }

 private:
  bool everything_ = false;
  bool agents_ = false;
  bool changes_agents_ = false;
  std::set<const schemas::Kind*> whole_;
  std::map<const schemas::Kind*, std::set<std::string, std::less<>>> spaces_;
};

}  // namespace edge::edgectl::web
