// `apply --prune`: what was applied before and has left the files.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// An object that is there and that the files do not name.
struct Leftover {
  Type type;
  std::string name_space, name, uid, resource_version;
};

/// What was applied: it stays, and its kinds and namespaces are looked through.
class Applied {
 public:
  void add(const Type& type, const std::string& name_space, const std::string& name);
  bool has(const Type& type, const std::string& name_space, const std::string& name) const;
  /// Own kinds, those of Gateway API, Ingresses and what they refer to, and what was applied: in the order in which
  /// they may go. Never namespaces or definitions, which would take others' objects with them. A kind that is not
  /// served is left out.
  std::vector<Type> types(Cluster& cluster) const;
  const std::set<std::string>& namespaces() const { return namespaces_; }

 private:
  static std::string key(const Type& type, const std::string& name_space, const std::string& name);
  std::vector<Type> types_;
  std::set<std::string> keys_, namespaces_;
};

/// Of one type in the namespaces: those with the labels that were applied, by us or by kubectl, or that `manager` has
/// applied by the server. What was made by other means stays.
kube::Failure find_leftovers(Cluster& cluster, const Type& type, const Applied& applied, const std::string& selector,
                             std::string_view manager, std::vector<Leftover>& into);

}  // namespace edge::edgectl
