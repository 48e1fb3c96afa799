// Where calls of policies do not go: who may write a policy of a cluster need not be one who may reach what only the
// node itself reaches.
#pragma once

#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::agent {

/// The value of --deny-calls-to: blocks with commas between, `local` for those of base/ip/node_addresses.h; `none`
/// alone.
Result<std::vector<Cidr>> read_denied_calls(std::string_view text);

}  // namespace edge::agent
