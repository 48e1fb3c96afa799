// Pods of the components, as their Deployment and DaemonSet have them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "controller/operator/installation.h"

namespace edge::cluster_operator {

/// Where the admin port of controllers is.
inline constexpr int kControllerAdminPort = 9092;
/// Beside the drain, for a process to end in.
inline constexpr int kGraceSeconds = 15;

/// Specs of pods (v1 PodSpec).
nlohmann::ordered_json controller_pod(const Installation& installation);
nlohmann::ordered_json agent_pod(const Installation& installation);
/// Of the dashboard. Without `spec.web.oidc` whoever reaches it acts with its rights: it listens on loopback, where
/// `kubectl port-forward` leads.
nlohmann::ordered_json web_pod(const Installation& installation);

}  // namespace edge::cluster_operator
