// ExportTraceServiceRequest, the message with spans, which has the same encoding as TracesData and Tempo's Trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/traces/otlp/span.h"

namespace edge::otlp {

/// One valid span; views into the request.
struct Taken {
  const Span& span;
  std::string_view bytes;  ///< the span's message
  const Source& source;
  std::string_view resource;
  std::string_view scope;
};

struct Reading {
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;  ///< malformed or over a limit, counted individually
};

/// Calls `take` for each span in order. kInvalidArgument: the request itself is malformed; spans before the error have
/// been passed on.
Result<Reading> read_request(std::string_view bytes, const std::function<void(const Taken&)>& take,
                             const Limits& limits = {});

/// Converts the JSON form (protobuf's, with OTLP's ids in hex; Tempo's, in base64, with `batches`) to the binary form.
/// kInvalidArgument: not such JSON. `depth` limits nesting.
Result<std::string> request_from_json(std::string_view text);

/// Returns ExportTraceServiceResponse: empty when no span was refused.
std::string response(std::uint64_t refused, std::string_view why);
std::string response_json(std::uint64_t refused, std::string_view why);

}  // namespace edge::otlp
