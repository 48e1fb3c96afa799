// Converts the JSON encoding of OTLP and of Tempo to the protobuf bytes that read_request parses.
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/protobuf_writer.h"
#include "controller/traces/otlp/export_request.h"

namespace edge::otlp {
namespace {

using RequestJson = nlohmann::json;

constexpr int kMaxDepth = 40;

const RequestJson kNothing;

/// The member of the first name that is there; null without.
template <typename... Names>
const RequestJson& member(const RequestJson& object, const char* name, Names... others) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (object.is_object() && found != object.end()) return *found;
  if constexpr (sizeof...(others) == 0) {
    return kNothing;
  } else {
    return member(object, others...);
  }
}

const std::string* text_in(const RequestJson& value) { return value.get_ptr<const std::string*>(); }

/// JSON of protobuf writes 64-bit numbers as text, and some writers do not.
std::uint64_t number_of(const RequestJson& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return static_cast<std::uint64_t>(value.get<std::int64_t>());
  const std::string* const text = text_in(value);
  if (text == nullptr) return 0;
  const char* const end = text->data() + text->size();
  std::uint64_t number = 0;
  if (text->starts_with('-')) {
    std::int64_t negative = 0;
    std::from_chars(text->data(), end, negative);
    return static_cast<std::uint64_t>(negative);
  }
  std::from_chars(text->data(), end, number);
  return number;
}

/// A name of protobuf's, or its number.
std::uint64_t enumerated(const RequestJson& value, std::string_view prefix,
                         std::initializer_list<std::string_view> names) {
  const std::string* const text = text_in(value);
  if (text == nullptr) return number_of(value);
  std::uint64_t number = 0;
  for (const std::string_view name : names) {
    if (*text == std::string(prefix).append(name)) return number;
    ++number;
  }
  return number_of(value);
}

/// OTLP has ids in hex; protobuf's own rule, which Tempo follows, is base64. Their lengths tell them apart.
void id(ProtobufWriter& out, unsigned field, const RequestJson& value) {
  const std::string* const text = text_in(value);
  if (text == nullptr || text->empty()) return;
  std::string bytes;
  if (text->size() == 32) {
    if (const auto trace = parse_trace_id(*text)) bytes.assign(trace->begin(), trace->end());
  } else if (text->size() == 16) {
    if (const auto span = parse_span_id(*text)) bytes.assign(span->begin(), span->end());
  } else {
    bytes = from_base64(*text).value_or("");
  }
  out.text(field, bytes);
}

void text(ProtobufWriter& out, unsigned field, const RequestJson& value) {
  if (const std::string* const found = text_in(value)) out.text(field, *found);
}

void attributes(ProtobufWriter& out, unsigned field, const RequestJson& list);

void any_value(ProtobufWriter& out, const RequestJson& value) {
  text(out, 1, member(value, "stringValue"));
  if (const RequestJson& truth = member(value, "boolValue"); truth.is_boolean())
    out.number(2, truth.get<bool>() ? 1 : 0);
  if (const RequestJson& integer = member(value, "intValue"); !integer.is_null()) out.number(3, number_of(integer));
  if (const RequestJson& real = member(value, "doubleValue"); real.is_number()) out.real(4, real.get<double>());
  if (const RequestJson& list = member(value, "arrayValue"); list.is_object()) {
    const auto inner = out.message(5);
    for (const RequestJson& item : member(list, "values")) {
      const auto one = out.message(1);
      any_value(out, item);
    }
  }
  if (const RequestJson& map = member(value, "kvlistValue"); map.is_object()) {
    const auto inner = out.message(6);
    attributes(out, 1, member(map, "values"));
  }
  if (const std::string* const bytes = text_in(member(value, "bytesValue"))) {
    out.text(7, from_base64(*bytes).value_or(""));
  }
}

void attributes(ProtobufWriter& out, unsigned field, const RequestJson& list) {
  if (!list.is_array()) return;
  for (const RequestJson& item : list) {
    const auto attribute = out.message(field);
    text(out, 1, member(item, "key"));
    const auto value = out.message(2);
    any_value(out, member(item, "value"));
  }
}

void span(ProtobufWriter& out, const RequestJson& value) {
  const auto message = out.message(2);
  id(out, 1, member(value, "traceId"));
  id(out, 2, member(value, "spanId"));
  text(out, 3, member(value, "traceState"));
  id(out, 4, member(value, "parentSpanId"));
  text(out, 5, member(value, "name"));
  out.number(6, enumerated(member(value, "kind"), "SPAN_KIND_",
                           {"UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"}));
  out.fixed(7, number_of(member(value, "startTimeUnixNano")));
  out.fixed(8, number_of(member(value, "endTimeUnixNano")));
  attributes(out, 9, member(value, "attributes"));
  if (const RequestJson& events = member(value, "events"); events.is_array()) {
    for (const RequestJson& event : events) {
      const auto inner = out.message(11);
      out.fixed(1, number_of(member(event, "timeUnixNano")));
      text(out, 2, member(event, "name"));
      attributes(out, 3, member(event, "attributes"));
    }
  }
  if (const RequestJson& links = member(value, "links"); links.is_array()) {
    for (const RequestJson& link : links) {
      const auto inner = out.message(13);
      id(out, 1, member(link, "traceId"));
      id(out, 2, member(link, "spanId"));
    }
  }
  if (const RequestJson& status = member(value, "status"); status.is_object()) {
    const auto inner = out.message(15);
    text(out, 2, member(status, "message"));
    out.number(3, enumerated(member(status, "code"), "STATUS_CODE_", {"UNSET", "OK", "ERROR"}));
  }
}

void resource_spans(ProtobufWriter& out, const RequestJson& value) {
  const auto message = out.message(1);
  {
    const auto resource = out.message(1);
    attributes(out, 1, member(member(value, "resource"), "attributes"));
  }
  const RequestJson& scopes = member(value, "scopeSpans", "instrumentationLibrarySpans");
  if (!scopes.is_array()) return;
  for (const RequestJson& scope : scopes) {
    const auto scope_spans = out.message(2);
    {
      const auto described = out.message(1);
      const RequestJson& name = member(scope, "scope", "instrumentationLibrary");
      text(out, 1, member(name, "name"));
      text(out, 2, member(name, "version"));
    }
    const RequestJson& spans = member(scope, "spans");
    if (!spans.is_array()) continue;
    for (const RequestJson& one : spans) span(out, one);
  }
}

}  // namespace

Result<std::string> request_from_json(std::string_view text) {
  const Error malformed{ErrorCode::kInvalidArgument, "the body is no JSON of an ExportTraceServiceRequest"};
  // Reading goes down as deep as the text says; nothing of ours is so deep.
  const auto shallow = [](int depth, RequestJson::parse_event_t, const RequestJson&) { return depth <= kMaxDepth; };
  const RequestJson whole = RequestJson::parse(text, shallow, /*allow_exceptions=*/false);
  const RequestJson& found = member(whole, "trace");
  const RequestJson& list = member(found.is_object() ? found : whole, "resourceSpans", "batches");
  if (!whole.is_object() || (!list.is_array() && !list.is_null())) return malformed;
  ProtobufWriter out;
  for (const RequestJson& item : list) resource_spans(out, item);
  return out.take();
}

std::string response_json(std::uint64_t refused, std::string_view why) {
  if (refused == 0) return "{}";
  return RequestJson{{"partialSuccess", {{"rejectedSpans", std::to_string(refused)}, {"errorMessage", why}}}}.dump();
}

}  // namespace edge::otlp
