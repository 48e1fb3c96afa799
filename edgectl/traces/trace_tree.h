// The page of `edgectl trace get`: who called whom, when within the trace, for how long, and what failed.
#pragma once

#include <string>

#include "base/diagnostics.h"
#include "edgectl/traces/trace.h"

namespace edge::edgectl {

std::string trace_page(const Trace& trace, Colour colour);

}  // namespace edge::edgectl
