// Determines the policies of a request: combines the gateway's and the route's.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

/// Returns indices into config.policies for a request of `route` on a listener of `gateway`, in the order of rule D4. A
/// route's policy replaces the gateway's of the same type. Linear in the policies of the two.
std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t gateway,
                                              const LinkedRoute& route);
/// The same for requests of one of its rules: a rule's policy replaces the route's and the gateway's.
std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t gateway,
                                              const LinkedRoute& route, const LinkedRule& rule);

/// The same for a listener. Bytes that are not parsed as HTTP have no policies.
std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route);
std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route,
                                       const LinkedRule& rule);

/// Returns for each index into config.policies whether any request uses it. Policies of gateways or routes without
/// listeners of this controller (mostly of another class) are not sent to its agents, and neither are their secrets.
std::vector<bool> policies_in_use(const LinkedConfig& config);

/// Returns whether one of the gateway's and the route's policies protects and cannot be enforced: requests are answered
/// 503 (fail closed). Authentication cannot be enforced on a listener of protocol TCP or TLS: connections are closed.
bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route);

}  // namespace edge::compiler::link
