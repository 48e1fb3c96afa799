// MatchIr -> section bytes: the tables that are the canonical form of a program.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::emit {

/// One kHost section. Its bytes depend on the host, and on the names and treatments of its rules, alone. Native code is
/// not in it, only `native_shard`. `shard` is kNone when the host needs no code or none is made.
std::vector<std::byte> emit_host(const LinkedConfig& config, const ir::Host& host, std::uint32_t shard);

/// The kListeners section. `hosts`: in their order.
std::vector<std::byte> emit_listeners(const LinkedConfig& config,
                                      std::span<const ir::HostRoutes::value_type* const> hosts);

/// The kBackends section.
std::vector<std::byte> emit_backends(const LinkedConfig& config);

/// The kPolicies section: settings of the policies that apply to something. An edit of one touches this section alone.
std::vector<std::byte> emit_policies(const LinkedConfig& config);

}  // namespace edge::compiler::emit
