#include <map>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/traces/answers.h"
#include "edgectl/traces/json.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostTags = 512;

bool is_true(const std::string& text) { return text == "true"; }

/// The CHILD_OF within the same trace.
std::string parent_of(const Json& span) {
  const std::string trace = text_at(span, "traceID");
  for (const Json& reference : list_in(span, "references")) {
    if (text_at(reference, "refType") == "CHILD_OF" && text_at(reference, "traceID") == trace) {
      return text_at(reference, "spanID");
    }
  }
  return text_at(span, "parentSpanID");
}

TraceSpan span_of(const Json& json, const std::map<std::string, std::string>& services) {
  TraceSpan span;
  span.id = text_at(json, "spanID");
  span.parent = parent_of(json);
  span.operation = text_at(json, "operationName");
  span.start_us = bounded_micros(number_at(json, "startTime"));
  span.duration_us = bounded_micros(number_at(json, "duration"));
  const auto service = services.find(text_at(json, "processID"));
  if (service != services.end()) span.service = service->second;
  for (const Json& tag : list_in(json, "tags")) {
    if (span.tags.size() == kMostTags) break;
    const std::string name = text_at(tag, "key");
    const std::string value = text_at(tag, "value");
    if (name == "span.kind") span.kind = value;
    if (name == "error") span.failed = is_true(value);
    if (name == "otel.status_description") span.message = value;
    span.tags.emplace_back(name, value);
  }
  return span;
}

Trace trace_of(const Json& json) {
  Trace trace{.id = text_at(json, "traceID")};
  std::map<std::string, std::string> services;
  for (const auto& [name, process] : member_in(json, "processes").items()) {
    services[name] = text_at(process, "serviceName");
  }
  for (const Json& span : list_in(json, "spans")) {
    trace.cut |= trace.spans.size() == kMostSpans;
    if (trace.cut) break;
    if (span.is_object()) trace.spans.push_back(span_of(span, services));
  }
  trace.cut |= !list_in(json, "warnings").empty();
  return trace;
}

}  // namespace

std::optional<std::vector<std::string>> jaeger_names(std::string_view body) {
  const Json json = parse_json(body);
  const Json& data = member_in(json, "data");
  // A server without any says null.
  if (!json.is_object() || !json.contains("data") || !(data.is_array() || data.is_null())) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& name : data) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

std::optional<std::vector<Trace>> jaeger_traces(std::string_view body) {
  const Json json = parse_json(body);
  const Json& data = member_in(json, "data");
  if (!data.is_array()) return std::nullopt;
  std::vector<Trace> traces;
  for (const Json& trace : data) {
    if (trace.is_object()) traces.push_back(trace_of(trace));
  }
  return traces;
}

std::string jaeger_fault(std::string_view body) {
  const Json json = parse_json(body);
  const Json& errors = list_in(json, "errors");
  return errors.empty() ? std::string() : text_at(errors.front(), "msg");
}

}  // namespace edge::edgectl
