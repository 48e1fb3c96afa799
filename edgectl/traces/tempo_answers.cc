#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/traces/otlp/export_request.h"
#include "edgectl/traces/answers.h"
#include "edgectl/traces/json.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kNanosInMicro = 1'000;
constexpr std::int64_t kMicrosOfMilli = 1'000;

TraceSpan span_of(const otlp::Taken& taken) {
  const otlp::Span& span = taken.span;
  TraceSpan out;
  out.id = otlp::hex(span.id);
  if (span.has_parent()) out.parent = otlp::hex(span.parent);
  out.service = taken.source.service;
  out.operation = span.name;
  out.kind = otlp::kind_word(span.kind);
  out.start_us = bounded_micros(static_cast<std::int64_t>(span.start_ns / kNanosInMicro));
  out.duration_us = bounded_micros(static_cast<std::int64_t>(span.duration_ns() / kNanosInMicro));
  out.failed = span.status == otlp::StatusCode::kError;
  out.message = span.status_message;
  for (const otlp::Attribute& attribute : span.attributes) {
    out.tags.emplace_back(attribute.key, otlp::text_of(attribute.value));
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::string>> tempo_names(std::string_view body, const char* member) {
  const Json json = parse_json(body);
  // Protobuf's JSON leaves out what is empty.
  if (!json.is_object() || (!json.empty() && !json.contains(member))) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& name : list_in(json, member)) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

std::optional<std::vector<TraceSummary>> tempo_summaries(std::string_view body) {
  const Json json = parse_json(body);
  if (!json.is_object()) return std::nullopt;
  std::vector<TraceSummary> summaries;
  for (const Json& trace : list_in(json, "traces")) {
    TraceSummary summary;
    summary.id = text_at(trace, "traceID");
    summary.service = text_at(trace, "rootServiceName");
    summary.operation = text_at(trace, "rootTraceName");
    summary.start_us = bounded_micros(number_at(trace, "startTimeUnixNano") / std::int64_t{kNanosInMicro});
    summary.duration_us = bounded_micros(bounded_micros(number_at(trace, "durationMs")) * kMicrosOfMilli);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::optional<Trace> tempo_trace(std::string_view body, bool json, const std::string& id) {
  std::string converted;
  if (json) {
    Result<std::string> bytes = otlp::request_from_json(body);
    if (!bytes) return std::nullopt;
    converted = std::move(*bytes);
    body = converted;
  }
  Trace trace{.id = id};
  otlp::Limits limits;
  limits.requests_spans = kMostSpans;
  const auto reading =
      otlp::read_request(body, [&](const otlp::Taken& taken) { trace.spans.push_back(span_of(taken)); }, limits);
  if (!reading) return std::nullopt;
  trace.cut = reading->refused != 0;
  return trace;
}

}  // namespace edge::edgectl
