// What the compiler thinks of a resource, as its status says it: everything but the times, and but what only agents
// know. status_document.h puts those together.
//
//   Workspace (statuses, linked configuration) -> DesiredStatus -> StatusWriter -> the resource's status
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/resource_id.h"
#include "compiler/link/conditions.h"
#include "compiler/link/linked_config.h"
#include "controller/cluster_object.h"
#include "program/values/value_set.h"

namespace edge::controller {

struct DesiredStatus {
  ResourceId key;
  /// JSON: the status without `lastTransitionTime`; empty: the resource is gone, or none of ours.
  std::string status;
  /// The program that serves it as it is now is no older than this one (ProgramBuilder counts them).
  std::uint64_t program = 0;
  /// The compiler has nothing against its being served: whether it is, agents tell.
  bool servable = false;
  std::int64_t generation = 0;  ///< of the object that was judged
  std::string rejection;        ///< reason and message of an `Accepted=False`, of any parent of a route; empty: none
  /// No condition of its status tells the rejection, as with an Ingress: an event does.
  bool told_by_event = false;
};

/// Whose status the controller writes.
bool has_status(std::string_view kind);
/// Of which a version at fault is replaced by the last sound one (decision 0058).
bool keeps_sound_version(std::string_view kind);
/// What is wrong with it lies in the resource itself: it was not accepted for what it says.
bool is_at_fault(const compiler::ResourceStatus* status);

struct StatusBuilderOptions {
  std::string controller_class;
  /// Addresses under which listeners that bind every address are reached; of Ingresses and Gateways.
  std::vector<std::string> published_addresses;
};

/// Judges resources against one state of a Workspace, and of the values beside its program. Cheap to make; valid while
/// no argument changes.
class StatusBuilder {
 public:
  /// `there`: whether the cluster has an object, of whatever class.
  StatusBuilder(const StatusBuilderOptions& options, const compiler::LinkedConfig& config,
                const program::ValueSet& values, const std::vector<compiler::ResourceStatus>& statuses,
                std::function<bool(const ResourceId&)> there)
      : options_(options), config_(config), values_(values), statuses_(statuses), there_(std::move(there)) {}

  /// `stored` replaces what the statuses say, for a version that is not what is compiled.
  DesiredStatus build(const ClusterObject& object, const compiler::ResourceStatus* stored = nullptr);

  /// Numbers of the gateways from which routes lead to a Service, by `namespace/name`.
  using ServiceUsers = std::unordered_map<std::string, std::set<std::uint32_t>>;

 private:
  const ServiceUsers& service_users();
  /// Why a route of Gateway API is on no Gateway at all; empty: it is on one, perhaps of another controller.
  std::string without_gateway(const ClusterObject& route) const;
  /// `stored` without what it says of other controllers' gateways (rule D8). False: the route is on no other.
  bool remove_other_controllers(const ClusterObject& route, compiler::ResourceStatus& stored) const;
  const compiler::LinkedRoute* route(const ResourceId& key);
  const program::BackendEndpoints* endpoints(const ResourceId& key) const;

  const StatusBuilderOptions& options_;
  const compiler::LinkedConfig& config_;
  const program::ValueSet& values_;
  const std::vector<compiler::ResourceStatus>& statuses_;
  const std::function<bool(const ResourceId&)> there_;
  std::unordered_map<std::string, const compiler::LinkedRoute*> routes_;
  std::optional<ServiceUsers> users_;
};

}  // namespace edge::controller
