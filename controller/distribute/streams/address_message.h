// Virtual addresses as the message that one agent is given.
#pragma once

#include "base/labels.h"
#include "controller/distribute/virtual_addresses.h"

namespace edge::agent::v1 {
class AddressesDown;
}

namespace edge::controller {

/// Writes the addresses into an empty message for one agent. `own`: the agent's labels, before which those of its Node
/// (`of_node`) stand back. An agent gets the passwords of the addresses that these labels select, and of no others.
void write_addresses(const CurrentAddresses& current, const Labels& own, const Labels& of_node,
                     agent::v1::AddressesDown& into);

}  // namespace edge::controller
