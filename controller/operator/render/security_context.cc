#include "controller/operator/render/security_context.h"

#include <nlohmann/json.hpp>

namespace edge::cluster_operator {

nlohmann::ordered_json unprivileged_pod() {
  // USER of script/package_image.py.
  constexpr int kUser = 65532;
  return {{"runAsNonRoot", true},
          {"runAsUser", kUser},
          {"runAsGroup", kUser},
          {"fsGroup", kUser},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}};
}

nlohmann::ordered_json confined_container() {
  return {{"readOnlyRootFilesystem", true}, {"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}};
}

}  // namespace edge::cluster_operator
