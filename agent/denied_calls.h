// Addresses that policies may not call: the author of a policy in a cluster need not have access to what the node can
// reach.
#pragma once

#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::agent {

/// Parses --deny-calls-to: CIDR blocks separated by commas, `local` for those of base/ip/node_addresses.h; `none` on
/// its own.
Result<std::vector<Cidr>> read_denied_calls(std::string_view text);

}  // namespace edge::agent
