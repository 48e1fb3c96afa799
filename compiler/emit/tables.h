// Writes MatchIr as section bytes: the tables that are the canonical form of a program.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::emit {

/// Writes one kHost section. Its bytes depend only on the host, and on the names and treatments of its rules. Native
/// code is not included, only `native_shard`. `shard` is kNone when the host needs no code or none is made.
std::vector<std::byte> emit_host(const LinkedConfig& config, const ir::Host& host, std::uint32_t shard);

/// Writes the kListeners section. `hosts`: in their order.
std::vector<std::byte> emit_listeners(const LinkedConfig& config,
                                      std::span<const ir::HostRoutes::value_type* const> hosts);

/// Writes the kBackends section.
std::vector<std::byte> emit_backends(const LinkedConfig& config);

/// Writes the kPolicies section: settings of the policies in use. An edit of a policy changes only this section.
std::vector<std::byte> emit_policies(const LinkedConfig& config);

}  // namespace edge::compiler::emit
