// What processes without rights on their node are confined to: the restricted profile of Kubernetes' Pod Security
// Standards.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace edge::cluster_operator {

/// Of a pod (v1 PodSecurityContext): the user of the images, who also owns its volumes.
nlohmann::ordered_json unprivileged_pod();
/// Of a container (v1 SecurityContext). Whoever needs a capability adds it.
nlohmann::ordered_json confined_container();

}  // namespace edge::cluster_operator
