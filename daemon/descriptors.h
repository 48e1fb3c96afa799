// How many files and sockets a daemon may have open.
#pragma once

#include <cstdint>

namespace edge::daemon {

/// Raises the soft limit to the hard one (RLIMIT_NOFILE): the soft one is low for the sake of programs that use
/// select(2), which we do not. Call it before other threads are started. \returns the limit now.
std::uint64_t raise_descriptor_limit();

}  // namespace edge::daemon
