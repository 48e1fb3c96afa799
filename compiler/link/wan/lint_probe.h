// Whether the probes of a WANLink can tell what its thresholds, and the `sla` of policies that use it, need.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/wan/linked_wan.h"
#include "compiler/model/wan.h"

namespace edge::compiler::link {

/// Warns, with the numbers, of a window in which one lost probe exceeds `maxLoss`, of an interval with which a loss of
/// twice that takes half an hour to be told, and of a timeout that hides `maxLatency`.
void lint_probe(const model::WanLink& link, Diagnostics& diagnostics);

/// Likewise of the `sla` of each policy, at the first of the links it may use whose probe cannot tell it.
void lint_policy_probes(const LinkedWan& wan, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
