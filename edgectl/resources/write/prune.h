// `apply --prune`: deletes objects that were applied before and are not in the files any more.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// An existing object that is not in the files.
struct Leftover {
  Type type;
  std::string name_space, name, uid, resource_version;
};

/// The applied objects, which stay; their kinds and namespaces are searched.
class Applied {
 public:
  void add(const Type& type, const std::string& name_space, const std::string& name);
  bool has(const Type& type, const std::string& name_space, const std::string& name) const;
  /// Returns own kinds, those of Gateway API, Ingresses and kinds they refer to, and the applied ones: in the order of
  /// deletion. Never namespaces or definitions, whose deletion would delete others' objects. Kinds that are not served
  /// are skipped.
  std::vector<Type> types(Cluster& cluster) const;
  const std::set<std::string>& namespaces() const { return namespaces_; }

 private:
  static std::string key(const Type& type, const std::string& name_space, const std::string& name);
  std::vector<Type> types_;
  std::set<std::string> keys_, namespaces_;
};

/// Finds objects of one type in the namespaces: those applied by edgectl or kubectl, or by `manager` with server-side
/// apply. Objects created in another way are not included.
kube::Failure find_leftovers(Cluster& cluster, const Type& type, const Applied& applied, const std::string& selector,
                             std::string_view manager, std::vector<Leftover>& into);

}  // namespace edge::edgectl
