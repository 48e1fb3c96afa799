// Virtual addresses as the message that one agent is given.
#pragma once

#include "base/labels.h"
#include "controller/distribute/virtual_addresses.h"

namespace edge::agent::v1 {
class AddressesDown;
}

namespace edge::controller {

/// `labels`: of the agent, who is told the passwords of addresses that are for it alone. Into an empty message.
void write_addresses(const CurrentAddresses& current, const Labels& labels, agent::v1::AddressesDown& into);

}  // namespace edge::controller
