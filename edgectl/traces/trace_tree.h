// The output of `edgectl trace get`: the tree of calls, with start, duration, and errors.
#pragma once

#include <string>

#include "base/diagnostics.h"
#include "edgectl/traces/trace.h"

namespace edge::edgectl {

std::string trace_page(const Trace& trace, Colour colour);

}  // namespace edge::edgectl
