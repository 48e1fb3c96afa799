// The limit of open files and sockets of a daemon.
#pragma once

#include <cstdint>

namespace edge::daemon {

/// Raises the soft limit to the hard one (RLIMIT_NOFILE): the soft one is low for programs that use select(2), unlike
/// these. To be called before other threads are started. \returns the resulting limit.
std::uint64_t raise_descriptor_limit();

}  // namespace edge::daemon
