// What an ordinary user's process may not do for want of a capability (capabilities(7)), said in one line.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace edge::agent {

struct Privileges {
  std::uint64_t effective = 0;             ///< capabilities, as CapEff of /proc/self/status
  std::uint32_t unprivileged_from = 1024;  ///< lowest port that anybody may listen on
};
/// Of this process. What cannot be found out is taken as there, so that nothing false is said.
Privileges own_privileges();

/// Empty when nothing that these ports need is missing.
std::string missing_capability(std::span<const std::uint16_t> ports, const Privileges& privileges);

}  // namespace edge::agent
