// deploy/systemd and deploy/static-pods, embedded.
#pragma once

#include <string_view>

namespace edge::edgectl {

/// `daemon`: `agent`, `controller` or `standalone`; empty for others.
std::string_view unit_file(std::string_view daemon);
/// With `@IMAGE@`, `@CONFIG_PATH@` and, of the agent, `@CONTROLLER@` where those are to stand.
std::string_view static_pod_file(std::string_view daemon);

}  // namespace edge::edgectl
