// Lints: what is allowed and yet almost surely a mistake. ResourceSet -> warnings, each with a reason and a remedy.
//
// Nothing here changes what is served. A resource silences one by the annotation `edgeproxy.io/allow: EDGE1004`
// (compiler/model/allowances.h).
#pragma once

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::lint {

/// Of one resource: functions of that resource alone, so that an edit of another need not repeat them.
void lint(const model::ProxyGateway& gateway, Diagnostics& diagnostics);
void lint(const model::ProxyRoute& route, Diagnostics& diagnostics);
void lint(const model::ProxyBackend& backend, Diagnostics& diagnostics);
void lint(const model::ProxyPolicy& policy, Diagnostics& diagnostics);

/// What takes several resources to see. References that do not resolve are passed over: linking reports them.
/// Linear in the size of the set, save for sorting.
void lint_together(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// Warns of each rule with `sessionPersistence` whose cookie, or header, another rule of the same gateway and host uses
/// for other backends: a client that uses both loses its endpoint at each change. Cookies of different paths are
/// different cookies. One warning a rule. Linear in the size of the set.
void lint_shared_sessions(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// `spec.bgp` of ProxyVIPs: passwords for everybody to read, and peers whose settings are not in force.
void lint_bgp(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// All of the above. `resources` with what translating made of Gateway API and Ingress, which is told where the fields
/// are those of the kind that was written.
void lint_all(const model::ResourceSet& resources, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
