#include "controller/traces/jaeger.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::traces {
namespace {

using Json = nlohmann::ordered_json;

/// The largest whole number that a browser holds exactly: Jaeger sends larger ones as text.
constexpr std::int64_t kMostExact = (std::int64_t{1} << 53) - 1;

/// Calls `told(key, value)` for each tag of a span; `told` says false to end it.
template <typename Visitor>
void each_tag(const otlp::Span& span, const otlp::Source& source, const Visitor& visit) {
  using Kind = otlp::Value::Kind;
  const auto text = [&](std::string_view key, std::string_view value) {
    return value.empty() || visit(key, otlp::Value{.kind = Kind::kText, .text = std::string(value)});
  };
  for (const otlp::Attribute& attribute : span.attributes) {
    if (!visit(attribute.key, attribute.value)) return;
  }
  if (!text("span.kind", otlp::kind_word(span.kind))) return;
  if (span.status == otlp::StatusCode::kError) {
    if (!visit("error", otlp::Value{.kind = Kind::kBool, .truth = true})) return;
    if (!text("otel.status_code", "ERROR") || !text("otel.status_description", span.status_message)) return;
  }
  if (span.status == otlp::StatusCode::kOk && !text("otel.status_code", "OK")) return;
  if (!text("w3c.tracestate", span.state) || !text("otel.scope.name", source.scope)) return;
  (void)text("otel.scope.version", source.scope_version);
}

Json tag_json(std::string_view key, const otlp::Value& value) {
  Json json{{"key", key}};
  switch (value.kind) {
    case otlp::Value::Kind::kBool:
      json["type"] = "bool";
      json["value"] = value.truth;
      break;
    case otlp::Value::Kind::kInteger:
      json["type"] = "int64";
      json["value"] = value.integer;
      if (value.integer > kMostExact || value.integer < -kMostExact) json["value"] = std::to_string(value.integer);
      break;
    case otlp::Value::Kind::kReal:
      json["type"] = "float64";
      json["value"] = value.real;
      break;
    default:
      json["type"] = "string";
      json["value"] = otlp::text_of(value);
  }
  return json;
}

Json tags_json(const std::vector<otlp::Attribute>& attributes) {
  Json tags = Json::array();
  for (const otlp::Attribute& attribute : attributes) tags.push_back(tag_json(attribute.key, attribute.value));
  return tags;
}

Json reference_json(std::string_view type, const otlp::TraceId& trace, const otlp::SpanId& span) {
  return {{"refType", type}, {"traceID", otlp::hex(trace)}, {"spanID", otlp::hex(span)}};
}

Json span_json(const otlp::Span& span, const otlp::Source& source, std::string process) {
  Json references = Json::array();
  if (span.has_parent()) references.push_back(reference_json("CHILD_OF", span.trace, span.parent));
  for (const otlp::Link& link : span.links) references.push_back(reference_json("FOLLOWS_FROM", link.trace, link.span));
  Json tags = Json::array();
  each_tag(span, source, [&](std::string_view key, const otlp::Value& value) {
    tags.push_back(tag_json(key, value));
    return true;
  });
  Json logs = Json::array();
  for (const otlp::Event& event : span.events) {
    Json fields = Json::array();
    if (!event.name.empty()) fields.push_back({{"key", "event"}, {"type", "string"}, {"value", event.name}});
    for (const otlp::Attribute& attribute : event.attributes)
      fields.push_back(tag_json(attribute.key, attribute.value));
    logs.push_back({{"timestamp", event.time_ns / otlp::kNanosInMicro}, {"fields", std::move(fields)}});
  }
  return {{"traceID", otlp::hex(span.trace)},
          {"spanID", otlp::hex(span.id)},
          {"operationName", span.name},
          {"references", std::move(references)},
          {"startTime", span.start_ns / otlp::kNanosInMicro},
          {"duration", span.duration_ns() / otlp::kNanosInMicro},
          {"tags", std::move(tags)},
          {"logs", std::move(logs)},
          {"processID", std::move(process)},
          {"warnings", nullptr}};
}

std::string process_name(std::size_t source) { return "p" + std::to_string(source + 1); }

Json trace_json(const StoredTrace& trace) {
  Json spans = Json::array();
  for (const StoredTrace::Entry& entry : trace.spans) {
    spans.push_back(span_json(entry.span, trace.sources[entry.source], process_name(entry.source)));
  }
  // Appended, not looked up: an object that keeps its order looks through all of it for each name, and hostile senders
  // make as many sources as spans.
  Json::object_t processes;
  processes.reserve(trace.sources.size());
  for (std::size_t i = 0; i < trace.sources.size(); ++i) {
    const otlp::Source& source = trace.sources[i];
    processes.push_back(
        {process_name(i), Json{{"serviceName", source.service}, {"tags", tags_json(source.attributes)}}});
  }
  Json warnings = nullptr;
  if (trace.cut) warnings = Json::array({"the trace has more spans than are shown"});
  return {{"traceID", otlp::hex(trace.id)},
          {"spans", std::move(spans)},
          {"processes", std::move(processes)},
          {"warnings", std::move(warnings)}};
}

std::string envelope(Json data) {
  const std::size_t total = data.size();
  return json_line(Json{{"data", std::move(data)}, {"total", total}, {"limit", 0}, {"offset", 0}, {"errors", nullptr}});
}

}  // namespace

bool has_tag(const otlp::Span& span, const otlp::Source& source, std::string_view key, std::string_view value) {
  const auto is_it = [&](std::string_view name, const otlp::Value& found) {
    return name == key && otlp::text_of(found) == value;
  };
  const auto among = [&](const std::vector<otlp::Attribute>& attributes) {
    return std::ranges::any_of(attributes, [&](const auto& one) { return is_it(one.key, one.value); });
  };
  bool found = among(source.attributes);
  for (const otlp::Event& event : span.events) found = found || among(event.attributes);
  if (!found) {
    each_tag(span, source, [&](std::string_view name, const otlp::Value& one) {
      found = is_it(name, one);
      return !found;
    });
  }
  return found;
}

std::string services_json(const std::vector<std::string>& services) { return envelope(services); }

std::string operation_names_json(const std::vector<Operation>& operations) {
  std::set<std::string> names;
  for (const Operation& operation : operations) names.insert(operation.name);
  return envelope(names);
}

std::string operations_json(const std::vector<Operation>& operations) {
  Json list = Json::array();
  for (const Operation& operation : operations)
    list.push_back({{"name", operation.name}, {"spanKind", operation.kind}});
  return envelope(std::move(list));
}

std::string traces_json(std::span<const StoredTrace> traces) {
  Json list = Json::array();
  for (const StoredTrace& trace : traces) list.push_back(trace_json(trace));
  return envelope(std::move(list));
}

std::string fault_json(int code, std::string_view text, std::string_view trace) {
  Json fault{{"code", code}, {"msg", text}};
  if (!trace.empty()) fault["traceID"] = trace;
  return json_line(
      Json{{"data", nullptr}, {"total", 0}, {"limit", 0}, {"offset", 0}, {"errors", Json::array({fault})}});
}

}  // namespace edge::traces
