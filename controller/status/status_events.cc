#include "controller/status/status_events.h"

#include <utility>

namespace edge::controller {

std::vector<Event> events_of(const ResourceId& key, const std::vector<ConditionFlip>& flips) {
  using enum kube::EventLevel;
  const bool gateway = key.kind == "ProxyGateway" || key.kind == "Gateway";
  std::vector<Event> events;
  for (const ConditionFlip& flip : flips) {
    const bool holds = flip.status == "True";
    // What is well from the start is worth an event at a gateway alone: of routes there are thousands.
    const bool worth = !flip.first || gateway;
    const auto tell = [&](kube::EventLevel level, std::string reason, const std::string& message) {
      events.push_back({level, std::move(reason), flip.where.empty() ? message : flip.where + ": " + message});
    };
    if (flip.type == "Accepted") {
      if (!holds) tell(kWarning, "Rejected", flip.message);
      if (holds && !flip.first) tell(kNormal, "Accepted", "it is at fault no longer");
    } else if (flip.type == "Programmed") {
      // Of a gateway's listeners the gateway speaks.
      if (holds && worth && flip.where.empty()) tell(kNormal, "Programmed", "every agent runs it");
      const bool listener = flip.where.starts_with("listener ");
      if (flip.reason == "AgentRefused" && !listener) tell(kWarning, "AgentRefused", flip.message);
      const bool unbound = flip.reason == "PortUnavailable" || flip.reason == "AddressNotUsable";
      if (!holds && unbound && listener) tell(kWarning, flip.reason, flip.message);
    } else if (flip.type == "CurrentNode") {
      tell(holds ? kNormal : kWarning, flip.reason, flip.message);
    } else if (flip.type == "Degraded" && key.kind == "ProxyVIP") {
      if (holds) tell(kWarning, flip.reason, flip.message);
      if (!holds && !flip.first) tell(kNormal, flip.reason, flip.message);
    } else if (flip.type == "Path" || flip.type == "Tunnel") {
      tell(holds ? kNormal : kWarning, flip.reason, flip.message);
    } else if (flip.type == "Healthy" && key.kind == "WANLink") {
      if (flip.status == "False") tell(kWarning, flip.reason, flip.message);
      if (holds && !flip.first) tell(kNormal, flip.reason, flip.message);
    } else if (flip.type == "Ready" && (key.kind == "Site" || key.kind == "WANPolicy")) {
      if (flip.status == "False") tell(kWarning, flip.reason, flip.message);
      if (holds && !flip.first) tell(kNormal, flip.reason, flip.message);
    } else if (flip.type == "Connected") {
      // Before it has ever come there is nothing to be told.
      if (holds || !flip.first) tell(holds ? kNormal : kWarning, flip.reason, flip.message);
    } else if (flip.type == "Federated") {
      // A peer that is away, or to which changes are on their way, is none.
      if (holds && !flip.first) tell(kNormal, flip.reason, flip.message);
      if (!holds && (flip.reason == "NotApplied" || flip.reason == "NotRunning"))
        tell(kWarning, flip.reason, flip.message);
    } else if (flip.type == "ResolvedRefs" && !holds) {
      tell(kWarning, flip.reason, flip.message);
    } else if (flip.type == "Healthy") {
      if (!holds) tell(kWarning, "EndpointsUnhealthy", flip.message);
      if (holds && !flip.first) tell(kNormal, "EndpointsHealthy", flip.message);
    } else if ((flip.type == "Shadowed" || flip.type == "Conflicted" || flip.type == "NoEjection") && holds) {
      tell(kWarning, flip.type, flip.message);
    }
  }
  return events;
}

}  // namespace edge::controller
