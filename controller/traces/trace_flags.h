// The flags of the trace store, alike in edge-controller and edge-standalone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/flags.h"
#include "controller/traces/trace_server.h"

namespace edge::traces {

std::vector<cli::Flag> trace_flags();

/// Starts the store that the flags ask for; null: none is wanted. kInvalidArgument names the flag. An address that
/// nobody has asked for and that is taken is a line of `log` and no store: an edge serves without its traces.
Result<std::unique_ptr<TraceServer>> start_trace_server(const cli::Arguments& arguments, const std::string& data_dir,
                                                        const Logger& log);

}  // namespace edge::traces
