// What holds of the SD-WAN's policies for every packet, each finding with a packet that shows it.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/wan/linked_wan.h"

namespace edge::compiler::link {

/// Warns of policies, and entries of `matches`, that no packet reaches; of two policies of one priority for the same
/// packets, of which the age decides; of `fallback: Drop` for packets that a policy before it lets through; of
/// prefixes that no tunnel leads to; and of a class of traffic on links that are not shaped. Bounded: what takes too
/// many steps to decide is not reported.
void prove_wan(const LinkedWan& wan, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
