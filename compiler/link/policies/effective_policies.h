// Determines the policies of a request: combines those of gateway, listener, route and rule.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

/// Returns indices into config.policies for a request of `route` on `listener`, in the order of rule D4. A route's
/// policy replaces the listener's of the same type, and that the gateway's. Linear in their policies.
std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t listener,
                                              const LinkedRoute& route);
/// The same for requests of one of its rules: a rule's policy replaces the wider ones.
std::vector<std::uint32_t> effective_policies(const LinkedConfig& config, std::uint32_t listener,
                                              const LinkedRoute& route, const LinkedRule& rule);

/// The same for requests on a listener that no route takes.
std::vector<std::uint32_t> policies_without_route(const LinkedConfig& config, std::uint32_t listener);

/// The same, but bytes that are not parsed as HTTP have no policies.
std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route);
std::vector<std::uint32_t> policies_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route,
                                       const LinkedRule& rule);

/// Returns the JWT policy by which tokens of the listener's requests are verified before a rule is chosen: the one that
/// is in force where no route takes a request (index into config.policies). nullopt: there is none, or its settings are
/// unreadable.
std::optional<std::uint32_t> token_policy(const LinkedConfig& config, std::uint32_t listener);

/// Returns for each index into config.policies whether any request uses it. Policies of gateways or routes without
/// listeners of this controller (mostly of another class) are not sent to its agents, and neither are their secrets.
std::vector<bool> policies_in_use(const LinkedConfig& config);

/// Returns whether one of the policies protects and cannot be enforced: requests are answered
/// 503 (fail closed). Authentication cannot be enforced on a listener of protocol TCP or TLS: connections are closed.
bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route);
bool denied_on(const LinkedConfig& config, std::uint32_t listener, const LinkedRoute& route, const LinkedRule& rule);
bool denied_without_route(const LinkedConfig& config, std::uint32_t listener);

/// Returns whether it has a page in place of the bodies of backends' errors.
bool replaces_backend_errors(const LinkedPolicy& policy);

}  // namespace edge::compiler::link
