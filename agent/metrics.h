// What /metrics says, in the Prometheus text format.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/session/server.h"

namespace edge::agent {

struct InstallCounts {
  std::uint64_t installed = 0;
  std::uint64_t refused = 0;
};

/// `program`: its hash in hex, empty while there is none.
std::string metrics_text(const runtime::ServerStats& stats, const InstallCounts& counts, const std::string& program);

}  // namespace edge::agent
