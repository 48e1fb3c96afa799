// Traces of the connected context's store, as the dashboard shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/flags.h"
#include "edgectl/traces/trace.h"
#include "edgectl/traces/trace_source.h"

namespace edge::edgectl::web {

/// Reads the query of a call. kInvalidArgument names the parameter, and the accepted form. `now_us`: microseconds since
/// 1970.
Result<TraceSearch> read_trace_search(const std::string& query, std::int64_t now_us);
/// Spans with their start after that of the trace. Values that may be secret are left out: any service may have sent
/// it.
std::string trace_reply(const Trace& trace);

/// Every call blocks for some seconds at most, and returns one line of JSON. For one thread at a time. kUnavailable: no
/// store answers.
class Traces {
 public:
  explicit Traces(cli::Arguments arguments) : arguments_(std::move(arguments)) {}

  /// The newest first, with the services that there are.
  Result<std::string> search(const TraceSearch& search);
  /// kNotFound.
  Result<std::string> trace(const std::string& id);

 private:
  Result<TraceSource*> source();
  Error forgotten(Error error);

  cli::Arguments arguments_;
  std::optional<TraceSource> source_;
};

}  // namespace edge::edgectl::web
