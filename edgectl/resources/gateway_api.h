// The kinds of Gateway API that commands use themselves.
#pragma once

#include "controller/kube/resource.h"

namespace edge::edgectl {

kube::Resource gateway_class_resource();
kube::Resource gateway_resource();
kube::Resource http_route_resource();

}  // namespace edge::edgectl
