// Gives up capabilities (capabilities(7)) that a process does not need.
#pragma once

#include <cstdint>

namespace edge {

/// Drops every capability that is not in `kept` (bit N: capability N) from all sets of the calling thread, and makes
/// sure that no program that it executes gets more (no_new_privs), whoever its user is. Call it before threads are
/// started: they have what their maker has. \returns whether the kernel has done it.
bool keep_capabilities(std::uint64_t kept);

}  // namespace edge
