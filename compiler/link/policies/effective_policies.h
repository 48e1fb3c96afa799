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
/// The same of the requests that one of its rules takes: a rule's policy replaces the route's and the gateway's.
std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t gateway,
                                              const LinkedRoute& route, const LinkedRule& rule);

/// The same of a listener. Bytes that are not read as HTTP pass no policy.
std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route);
std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route,
                                       const LinkedRule& rule);

/// By index into config.policies: whether any request passes it. One of a gateway or route that no listener of ours
/// serves (of another class, mostly) is not for our agents to know, and neither are its secrets.
std::vector<bool> policies_in_use(const LinkedConfig& config);

/// Whether one of the gateway's and the route's protects and is not enforced: the requests are answered 503 (fail
/// closed). None that asks who the client is can be enforced on a listener of protocol TCP or TLS: connections are
/// closed.
bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route);

}  // namespace edge::compiler::link
