// Reports capabilities (capabilities(7)) that a non-root process lacks, as one line.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace edge::agent {

struct Privileges {
  std::uint64_t effective = 0;             ///< capabilities, as CapEff of /proc/self/status
  std::uint32_t unprivileged_from = 1024;  ///< lowest port that any user may listen on
};
/// Returns the privileges of this process. What cannot be determined counts as present, to avoid false messages.
Privileges own_privileges();

/// Returns the message; empty when nothing that these ports need is missing.
std::string missing_capability(std::span<const std::uint16_t> ports, const Privileges& privileges);

/// Makes what this process may take effective, and what it starts (BIRD) inherit it: a container's user that is not
/// root has capabilities of the file that it runs, permitted alone, so that the file can be run where some are not
/// granted. Call it before any thread is started. What the kernel refuses stays as it was.
void raise_capabilities();

}  // namespace edge::agent
