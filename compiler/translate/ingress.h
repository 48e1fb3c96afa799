// Ingress -> ProxyRoutes, one for each host, on the listeners of its class.
#pragma once

#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/service_backends.h"

namespace edge::compiler::translate {

/// Makes the gateways of our IngressClasses (rule D8) and the routes and policies of their Ingresses.
void translate_ingresses(const model::ResourceSet& resources, std::string_view controller, ServiceBackends& backends,
                         model::ResourceSet& made, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
