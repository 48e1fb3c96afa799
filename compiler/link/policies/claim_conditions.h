// Conditions of routes on claims of tokens: where they stand, and which policy verifies the token
// (docs/decisions/0531).
#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/route.h"

namespace edge::compiler::link {

/// Returns the conditions on claims of a route, in matches and in its expression. What of the latter cannot be read is
/// told where it is prepared.
std::vector<ClaimCondition> claim_conditions(const model::ProxyRoute& route);

/// Sets LinkedListener::claimed_headers of all listeners.
void set_claimed_headers(LinkedConfig& config);

/// Detaches routes with such conditions from listeners without a token policy, and reports them: nobody's unverified
/// word chooses a rule, and a route without one of its conditions would take more than was meant. `written`: in the
/// order of config.routes.
void detach_unverified_claims(const std::vector<const model::ProxyRoute*>& written, LinkedConfig& config,
                              Diagnostics& diagnostics);

}  // namespace edge::compiler::link
