// The message that spans come in: ExportTraceServiceRequest, which TracesData and Tempo's Trace equal on the wire.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/traces/otlp/span.h"

namespace edge::otlp {

/// One span that may be kept; views into the request.
struct Taken {
  const Span& span;
  std::string_view bytes;  ///< the span's message
  const Source& source;
  std::string_view resource;
  std::string_view scope;
};

struct Reading {
  std::uint64_t taken = 0;
  std::uint64_t refused = 0;  ///< malformed or over a limit, each by itself
};

/// Tells of each span in order. kInvalidArgument: the request itself is malformed; what was told of before that stands.
Result<Reading> read_request(std::string_view bytes, const std::function<void(const Taken&)>& take,
                             const Limits& limits = {});

/// The same message from its JSON form (protobuf's, with OTLP's ids in hex; Tempo's, in base64, with `batches`), as
/// bytes. kInvalidArgument: it is no such JSON. `depth` bounds what is nested.
Result<std::string> request_from_json(std::string_view text);

/// ExportTraceServiceResponse: empty when nothing was refused.
std::string response(std::uint64_t refused, std::string_view why);
std::string response_json(std::uint64_t refused, std::string_view why);

}  // namespace edge::otlp
