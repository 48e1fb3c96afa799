// The flags of the trace store, the same in edge-controller and edge-standalone.
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

/// What the flags say. kInvalidArgument names the flag.
Result<TraceServerOptions> trace_server_options(const cli::Arguments& arguments, const std::string& data_dir,
                                                const Logger& log);

/// null: neither spans nor queries are asked for. kUnavailable: an address is in use.
Result<std::unique_ptr<TraceServer>> open_trace_server(const TraceServerOptions& options);

/// Starts the store as the flags say; null: none is configured. kInvalidArgument names the flag. When a default address
/// is in use, `log` gets a message and there is no store: the edge serves without traces.
Result<std::unique_ptr<TraceServer>> start_trace_server(const cli::Arguments& arguments, const std::string& data_dir,
                                                        const Logger& log);

}  // namespace edge::traces
