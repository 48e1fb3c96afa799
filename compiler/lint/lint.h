// Lints: what is allowed and yet very likely a mistake. ResourceSet -> warnings, each with a reason and a fix.
//
// Lints do not change what is served. A resource silences one by the annotation `edgeproxy.io/allow: EDGE1004`
// (compiler/model/allowances.h).
#pragma once

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::lint {

/// For one resource: depends only on that resource, so that an edit of another does not require a repetition.
void lint(const model::ProxyGateway& gateway, Diagnostics& diagnostics);
void lint(const model::ProxyRoute& route, Diagnostics& diagnostics);
void lint(const model::ProxyBackend& backend, Diagnostics& diagnostics);
void lint(const model::ProxyPolicy& policy, Diagnostics& diagnostics);

/// Lints across several resources. Ignores unresolved references, which linking reports. Linear in the size of the set,
/// except for sorting.
void lint_together(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// Warns of each rule with `sessionPersistence` whose cookie, or header, another rule of the same gateway and host uses
/// for other backends: a client that uses both loses its endpoint at each change. Cookies of different paths are
/// different cookies. One warning per rule. Linear in the size of the set, except for sorting.
void lint_shared_sessions(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// Warns of rules that match a header which a JWT policy makes of a claim behind the choice of the rule: until then it
/// is what clients send. Linear in the size of the set.
void lint_claimed_headers(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// Warns of `spec.bgp` of ProxyVIPs: passwords in plain text, and peers whose settings have no effect.
void lint_bgp(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// Warns of blocks of pools that are within others. Linear in the blocks, except for sorting.
void lint_pools(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// Runs all of the above. `resources` include translated ones of Gateway API and Ingress, which are reported where the
/// fields are those of the written kind.
void lint_all(const model::ResourceSet& resources, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
