// An object of the cluster as an API server sends it, and what the controller keeps of it. First thing after the watch.
//
// The compiler is given what it reads and no more: neither status nor managed fields, so that a status which we write
// ourselves is no change, nor values of which only the names count. Of a pool of addresses the status is read, as it
// alone says who has which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/resource_id.h"
#include "base/result.h"

namespace edge::controller {

struct ClusterObject {
  ResourceId key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  /// For the compiler: compact JSON in one spelling, whatever the server's.
  std::string document;
  /// As JSON; empty: there is none.
  std::string status;
  /// Of routes: spec.parentRefs as JSON.
  std::string parent_refs;
  std::uint32_t rules = 0;  ///< of routes
  std::string target;       ///< of policies: `Kind/name`; of several, one behind the other with a comma between
  /// The field manager who changed it last; read_cluster_object leaves it to who knows.
  std::string changed_by;
  /// The cluster does not have it: it is compiled beside what the cluster has, and gets no status.
  bool only_compiled = false;
};

/// `controller_class`: whose gateways are ours (rule D8). The compiler knows the default class alone, so another one
/// changes places with it here.
/// \returns nullopt for an object that is of no use to the compiler (a Secret of a package manager).
Result<std::optional<ClusterObject>> read_cluster_object(std::string_view json, std::string_view controller_class);

}  // namespace edge::controller
