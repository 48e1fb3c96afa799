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
#include <vector>

#include "base/resource_id.h"
#include "base/result.h"

namespace edge::controller {

struct ClusterObject {
  ResourceId key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  /// The compiler's input: compact JSON in a normalised form, independent of the server's.
  std::string document;
  /// As JSON; empty: none.
  std::string status;
  /// For routes: spec.parentRefs as JSON.
  std::string parent_refs;
  std::uint32_t rules = 0;  ///< of routes
  /// For routes of Gateway API: the Services that backendRefs of rules and of their filters name, as `namespace/name`.
  std::vector<std::string> services{};
  /// For Gateways: spec.infrastructure as JSON; empty: it has none.
  std::string infrastructure{};
  std::string class_name{};  ///< of Gateways and Ingresses, as they call it
  std::string target;        ///< of policies: `Kind/name`; several are separated by commas
  /// Of policies: spec.targetRefs as JSON, with spec.targetRef for one.
  std::string target_refs{};
  /// The field manager of the last change; set by the caller, not by read_cluster_object.
  std::string changed_by;
  /// Of an EdgeRemoteCluster: its status says that it was connected at some time.
  bool was_connected = false;
  /// Likewise: status.certificateKey, certificateExpires and certificateShown, in JSON; empty: it has none.
  std::string shown_certificate{};
  /// Not stored in the cluster: compiled in addition to the cluster's objects, and gets no status.
  bool only_compiled = false;
  bool values_dropped = false;  ///< by drop_values
  bool left_empty = false;      ///< has null that kubectl's annotation alone has (schemas/left_empty.h)
};

/// Parses an object. `controller_class`: the class of this controller's gateways (rule D8). The compiler knows only the
/// default class, so another one is swapped with it here. \returns nullopt for an object that the compiler does not
/// need (a package manager's Secret).
Result<std::optional<ClusterObject>> read_cluster_object(std::string_view json, std::string_view controller_class);

/// Leaves of a ConfigMap what is read by itself: bodies that policies name are to be asked for again.
void drop_values(ClusterObject& map);

/// What a list and a watch of a kind ask for; empty: every object.
struct WatchSelectors {
  std::string labels;
  std::string fields;
};
/// Of kinds that may be large: without the objects that the compiler does not need.
WatchSelectors selectors_of(std::string_view kind);

}  // namespace edge::controller
