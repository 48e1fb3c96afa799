// Virtual addresses as a controller's message has them. Hostile: counts and sizes are bounded.
#pragma once

#include <string>

#include "agent/vip/addresses.h"
#include "base/result.h"

namespace edge::agent {

/// `message`: an AddressesDown. What is no address in it, or no place to reach an agent at, is left out.
/// kInvalidArgument: it is no such message; kResourceExhausted: it has more than there may be.
Result<vip::Addresses> read_addresses(const std::string& message);

}  // namespace edge::agent
