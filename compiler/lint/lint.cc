#include "compiler/lint/lint.h"

#include "compiler/lint/path_detours.h"

namespace edge::compiler::lint {

void lint_all(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  for (const model::ProxyGateway& gateway : resources.gateways) lint(gateway, diagnostics);
  for (const model::ProxyRoute& route : resources.routes) {
    // The fields of an Ingress are others, and some of what is odd in a route comes of translating.
    if (route.metadata.kind != "Ingress") lint(route, diagnostics);
  }
  for (const model::ProxyBackend& backend : resources.backends) lint(backend, diagnostics);
  for (const model::ProxyPolicy& policy : resources.policies) lint(policy, diagnostics);
  lint_bgp(resources, diagnostics);
  lint_pools(resources, diagnostics);
  lint_together(resources, diagnostics);
  lint_claimed_headers(resources, diagnostics);
  lint_path_detours(resources, diagnostics);
  lint_shared_sessions(resources, diagnostics);
}

}  // namespace edge::compiler::lint
