// Attaches routes to listeners, and determines the status of each parent: parentRefs with sectionName and port, the
// routes that a listener allows, and the intersection of hostnames, as defined by Gateway API.
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
  /// Kubernetes adds the label `kubernetes.io/metadata.name` to every namespace, including those not given here.
  bool selected(std::string_view name_space, const std::vector<model::LabelRequirement>& selector) const;

 private:
  std::unordered_map<std::string, std::vector<std::pair<std::string, std::string>>> labels_;
};

/// The routes that a listener accepts.
struct Admission {
  /// Absent: routes of the gateway's namespace, and others by a ReferenceGrant.
  std::optional<model::AllowedRoutes> allowed{};
  std::string gateway_space{};
  std::string protocol{};
  /// For protocol TLS: the listener decrypts.
  bool terminates = false;
  std::shared_ptr<const NamespaceLabels> labels{};

  bool takes_namespace(std::string_view name_space) const;
  bool takes_kind(std::string_view kind) const;
};

/// Returns whether a listener forwards bytes without parsing them as HTTP: TCP, TLS and UDP.
constexpr bool is_raw(program::Protocol protocol) {
  return protocol == program::Protocol::kTcp || protocol == program::Protocol::kTls ||
         protocol == program::Protocol::kUdp;
}

/// Returns whether the listener decrypts: `tls.mode`, or its default: HTTPS decrypts, TLS passes through.
bool terminates_tls(const model::Listener& listener);

/// Returns the kinds of routes that a listener supports and allows, for its status. `invalid`: an unsupported kind is
/// listed.
std::vector<std::string> supported_kinds(const model::Listener& listener, bool& invalid);

/// Sets linked.listeners and findings.status.parents; adds a diagnostic where the route attaches nowhere.
void attach(const model::ProxyRoute& route, const RouteTargets& targets, Findings& findings, LinkedRoute& linked);

/// Adds the statuses of this controller's GatewayClasses, with the supported features of Gateway API. `gateways`: those
/// that classes may name as their parameters.
void class_statuses(const std::vector<model::GatewayClass>& classes, std::string_view controller,
                    const std::vector<model::ProxyGateway>& gateways, std::vector<ResourceStatus>& statuses);

}  // namespace edge::compiler::link
