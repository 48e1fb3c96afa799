// Finds the trace store of the connected context.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/flags.h"
#include "edgectl/traces/trace_source.h"

namespace edge::edgectl {

/// The first of: `endpoint`, that of the context, the store of the controller that there are credentials for, and the
/// store on this machine. `token`: for an endpoint; empty: none. kInvalidArgument: the flags are invalid; kUnavailable.
Result<TraceSource> find_trace_source(std::string endpoint, const std::string& token, const cli::Arguments& arguments);

/// The store of a spoke, from which traces are had by their id alone. Errors as of find_controller.
Result<TraceSource> spoke_trace_source(const std::string& spoke, const cli::Arguments& arguments);

}  // namespace edge::edgectl
