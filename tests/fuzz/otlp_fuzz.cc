// Any bytes as what a sender of traces posts, in both forms: what is taken is within the limits, and is read again as
// the same from what would be stored; what Jaeger's API says of it is JSON.
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "controller/traces/jaeger.h"
#include "controller/traces/otlp/export_request.h"
#include "tests/fuzz/require.h"

using namespace edge;

namespace {

otlp::Reading read(std::string_view bytes) {
  otlp::Limits limits;
  limits.requests_spans = 64;
  std::uint64_t reported = 0;
  const auto reading = otlp::read_request(
      bytes,
      [&](const otlp::Taken& taken) {
        ++reported;
        require(taken.bytes.size() <= limits.span_bytes && taken.span.attributes.size() <= limits.attributes);
        require(taken.span.trace != otlp::TraceId{} && !taken.source.service.empty());
        const auto again = otlp::read_span(taken.bytes);
        require(again && again->id == taken.span.id && again->name == taken.span.name);
        auto source = otlp::read_source(taken.resource);
        require(source.has_value() && otlp::read_scope(taken.scope, *source));
        traces::StoredTrace trace;
        trace.id = taken.span.trace;
        trace.spans.push_back({taken.span, 0});
        trace.sources.push_back(taken.source);
        require(nlohmann::json::accept(traces::traces_json(std::span(&trace, 1))));
        (void)traces::has_tag(taken.span, taken.source, "error", "true");
      },
      limits);
  if (!reading) return {};
  require(reading->taken == reported && reported <= limits.requests_spans);
  return *reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)read(bytes);
  // What comes as JSON is malformed in no other way than JSON can be.
  if (const auto converted = otlp::request_from_json(bytes); converted.ok()) {
    require(otlp::read_request(*converted, [](const otlp::Taken&) {}).ok());
    (void)read(*converted);
  }
  return 0;
}
