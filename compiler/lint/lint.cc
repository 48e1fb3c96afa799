#include "compiler/lint/lint.h"

namespace edge::compiler::lint {

void lint_all(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  for (const model::ProxyGateway& gateway : resources.gateways) lint(gateway, diagnostics);
  for (const model::ProxyRoute& route : resources.routes) lint(route, diagnostics);
  for (const model::ProxyBackend& backend : resources.backends) lint(backend, diagnostics);
  for (const model::ProxyPolicy& policy : resources.policies) lint(policy, diagnostics);
  lint_together(resources, diagnostics);
}

}  // namespace edge::compiler::lint
