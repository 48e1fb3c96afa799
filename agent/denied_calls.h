// Where calls of policies do not go: who may write a policy of a cluster need not be one who may reach what only the
// node itself reaches.
#pragma once

#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::agent {

/// The node's own addresses and those of its links: loopback, unspecified (which leads to it), link-local with the
/// metadata of clouds, and the same as NAT64 writes them (RFC 6052 §2.1).
std::vector<Cidr> local_addresses();

/// The value of --deny-calls-to: blocks with commas between, `local` for those above; `none` alone.
Result<std::vector<Cidr>> read_denied_calls(std::string_view text);

}  // namespace edge::agent
