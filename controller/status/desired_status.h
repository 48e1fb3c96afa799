// The status that a resource should have by the compiler's results: everything but the transition times and agents'
// reports, which status_document.h adds.
//
//   Workspace (statuses, linked configuration) -> DesiredStatus -> StatusWriter -> the resource's status
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
#include "controller/infrastructure/gateway_service.h"
#include "controller/rights/statuses.h"
#include "program/values/value_set.h"

namespace edge::controller {

struct DesiredStatus {
  ResourceId key;
  /// JSON, without `lastTransitionTime`. Empty: the resource was deleted, or belongs to another controller.
  std::string status;
  /// Number of the first program that may serve this version of the resource (ProgramBuilder counts programs).
  std::uint64_t program = 0;
  /// Whether the compiler accepts the resource. Whether it is served is reported by agents.
  bool servable = false;
  std::int64_t generation = 0;  ///< of the object
  std::string rejection;        ///< reason and message of an `Accepted=False`, of any parent of a route; empty: none
  /// The rejection is reported by an event, because the status of the kind has no conditions (Ingress).
  bool told_by_event = false;
  /// Of ListenerSets: stable id of the Gateway that serves the listeners, and what stands before their names there.
  std::uint64_t served_by = 0;
  std::string listener_prefix{};
  /// Of Gateways: what is made for it; null: nothing.
  std::shared_ptr<const GatewayService> service{};
};

/// Whether an invalid version of this kind is replaced by the last valid one (decision 0058).
bool keeps_sound_version(std::string_view kind);
/// Returns whether the resource itself is invalid: rejected because of its contents.
bool is_at_fault(const compiler::ResourceStatus* status);

/// Returns what a ProxyPolicy names as its targets.
std::vector<ResourceId> targets_of(const ClusterObject& policy);

struct StatusBuilderOptions {
  std::string controller_class;
  /// Addresses in the statuses of Gateways and Ingresses for listeners that bind every address.
  std::vector<std::string> published_addresses;
};

/// Whether there is a ProxyGateway of another controller (rule D8). Linear in the gateways.
bool has_gateways_of_others(const compiler::LinkedConfig& config,
                            const std::vector<compiler::ResourceStatus>& statuses);

/// Computes statuses of resources from one state of a Workspace and the values beside its program. Cheap to make; valid
/// while no argument changes.
class StatusBuilder {
 public:
  /// `find` returns an object of the cluster, of any class; null: there is none.
  StatusBuilder(const StatusBuilderOptions& options, const compiler::LinkedConfig& config,
                const program::ValueSet& values, const std::vector<compiler::ResourceStatus>& statuses,
                std::function<const ClusterObject*(const ResourceId&)> find)
      : options_(options), config_(config), values_(values), statuses_(statuses), find_(std::move(find)) {}

  /// Computes the status of `object`. `stored` replaces the compiler's status, for a version that is not compiled.
  DesiredStatus build(const ClusterObject& object, const compiler::ResourceStatus* stored = nullptr);

  /// Indices of the gateways whose routes lead to a Service, by `namespace/name`.
  using ServiceUsers = std::unordered_map<std::string, std::set<std::uint32_t>>;

 private:
  const ServiceUsers& service_users();
  /// Returns why a route of Gateway API is on no Gateway; empty when it is on one, including another controller's.
  std::string without_gateway(const ClusterObject& route) const;
  /// Returns whether only ProxyRoutes of other controllers' gateways use a ProxyBackend: two controllers whose agents
  /// see it differently would overwrite its status endlessly.
  bool is_left_to_others(const ResourceId& backend);
  /// Returns whether a policy's target is there, and is another controller's: its status is that one's to write.
  bool is_target_of_others(const ResourceId& target);
  /// Returns whether one of a route's parents is a gateway of ours.
  bool has_parent_of_ours(const ClusterObject& route) const;
  /// Returns status.ancestors of a ProxyPolicy as JSON (GEP-713): an entry for each target that is ours or is not
  /// there.
  std::string policy_ancestors(const ClusterObject& policy, const compiler::ResourceStatus* stored);
  /// Returns the indices of a route's parents that are other controllers' gateways (rule D8).
  std::set<std::size_t> parents_of_others(const ClusterObject& route) const;
  /// Removes from `stored` the entries for other controllers' gateways (rule D8). False: there are none.
  bool remove_other_controllers(const ClusterObject& route, compiler::ResourceStatus& stored) const;
  const compiler::LinkedRoute* route(const ResourceId& key);
  /// Returns the indices of the gateways that serve an Ingress; nullptr: it is another controller's.
  const std::set<std::uint32_t>* gateways_of(const ClusterObject& ingress);
  const program::BackendEndpoints* endpoints(const ResourceId& key) const;

  const StatusBuilderOptions& options_;
  const compiler::LinkedConfig& config_;
  const program::ValueSet& values_;
  const std::vector<compiler::ResourceStatus>& statuses_;
  const std::function<const ClusterObject*(const ResourceId&)> find_;
  std::unordered_map<std::string, const compiler::LinkedRoute*> routes_;
  std::optional<ServiceUsers> users_;
  /// Of Ingresses, by ResourceId::text(), and of their classes, by the name that Ingresses call them.
  using Gateways = std::unordered_map<std::string, std::set<std::uint32_t>>;
  std::optional<Gateways> of_ingresses_;
  Gateways of_classes_;
  std::optional<std::set<std::string>> left_;  ///< ProxyBackends, by ResourceId::text()
};

}  // namespace edge::controller
