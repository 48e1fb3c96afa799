// Which listeners a route attaches to, and what each of its parents has to say about it: parentRefs with sectionName
// and port, the routes that a listener allows, and the intersection of hostnames, as Gateway API words them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/conditions.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/resolve.h"
#include "compiler/model/cluster.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

struct RouteTargets;

/// Labels of the namespaces, for `allowedRoutes.namespaces.selector`.
class NamespaceLabels {
 public:
  explicit NamespaceLabels(const std::vector<model::Namespace>& namespaces);
  /// Kubernetes gives every namespace the label `kubernetes.io/metadata.name`, also those that are not given here.
  bool selected(std::string_view name_space, const std::vector<model::LabelRequirement>& selector) const;

 private:
  std::unordered_map<std::string, std::vector<std::pair<std::string, std::string>>> labels_;
};

/// Whose routes a listener takes.
struct Admission {
  /// Absent: routes of the gateway's namespace, and others by a ReferenceGrant.
  std::optional<model::AllowedRoutes> allowed{};
  std::string gateway_space{};
  std::string protocol{};
  /// Of protocol TLS: the listener decrypts.
  bool terminates = false;
  std::shared_ptr<const NamespaceLabels> labels{};

  bool takes_namespace(std::string_view name_space) const;
  bool takes_kind(std::string_view kind) const;
};

/// Whether a listener forwards bytes without reading them as HTTP: TCP and TLS.
constexpr bool is_raw(program::Protocol protocol) {
  return protocol == program::Protocol::kTcp || protocol == program::Protocol::kTls;
}

/// `tls.mode`, or its default: HTTPS decrypts, TLS passes through.
bool terminates_tls(const model::Listener& listener);

/// Kinds of routes that a listener can carry and allows, for its status. `invalid`: a kind that it cannot carry is
/// asked for.
std::vector<std::string> supported_kinds(const model::Listener& listener, bool& invalid);

/// Fills linked.listeners and findings.status.parents; says by diagnostics where it attaches nowhere.
void attach(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings, LinkedRoute& linked);

/// Statuses of the GatewayClasses that are ours, with the features of Gateway API that are served.
void class_statuses(const std::vector<model::GatewayClass>& classes, std::string_view controller,
                    std::vector<ResourceStatus>& statuses);

}  // namespace edge::compiler::link
