// Parses virtual addresses in a controller's message. Untrusted: counts and sizes are limited.
#pragma once

#include <string>

#include "agent/vip/addresses.h"
#include "base/result.h"

namespace edge::agent {

/// Parses `message`, an AddressesDown. Omits invalid addresses and invalid peers. kInvalidArgument: not such a message;
/// kResourceExhausted: above the limits.
Result<vip::Addresses> read_addresses(const std::string& message);

}  // namespace edge::agent
