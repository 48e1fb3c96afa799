// Who may do what at the API: the rights of the controller and of the operator, made from the kinds that the controller
// follows (schemas/).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace edge::cluster_operator {

/// Rules of a ClusterRole: everything that is followed, statuses and events.
nlohmann::ordered_json controller_rules();
/// Rules of a Role in the controller's namespace: its Lease.
nlohmann::ordered_json lease_rules();
/// Rules of a ClusterRole: what a dashboard shows. No Secrets.
nlohmann::ordered_json web_rules();
/// Of the operator itself: a ClusterRole. Nobody may give away what he has not, so it holds the controller's as well.
nlohmann::ordered_json operator_cluster_rules();
/// Of the operator itself, in the namespace of the EdgeClusters that it keeps.
nlohmann::ordered_json operator_rules();

}  // namespace edge::cluster_operator
