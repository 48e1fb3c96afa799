// Which policies a request passes: the one place that knows how a gateway's and a route's combine.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

/// Indices into config.policies of what a request of `route` passes on a listener of `gateway`, in the order of rule
/// D4. A route's policy replaces the gateway's of the same type. Linear in the policies of the two.
std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t gateway,
                                              const LinkedRoute& route);

/// Whether one of them protects and is not enforced: the requests are answered 503 (fail closed).
bool denied(const LinkedConfig& config, std::uint32_t gateway, const LinkedRoute& route);

}  // namespace edge::compiler::link
