// Translates Ingress -> ProxyRoutes, one per host, on the listeners of its class.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/service_backends.h"

namespace edge::compiler::translate {

/// Makes the gateways of this controller's IngressClasses (rule D8) and the routes and policies of their Ingresses.
/// `wanted`: only those (KeptTranslation::ingresses); null: all.
void translate_ingresses(const model::ResourceSet& resources, std::string_view controller,
                         const std::set<std::string>* wanted, ServiceBackends& backends, model::ResourceSet& made,
                         Diagnostics& diagnostics);

/// Returns whether an Ingress affects others: by a certificate of its class, or a share of their traffic.
bool concerns_others(const model::Ingress& ingress);

/// Returns whether what an Ingress becomes depends on which hosts and paths others name: a canary serves what stands
/// beside nobody, and other names of a host are served unless another has them.
bool depends_on_others(const model::Ingress& ingress);

}  // namespace edge::compiler::translate
