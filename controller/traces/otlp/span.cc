#include "controller/traces/otlp/span.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/text/protobuf_reader.h"

namespace edge::otlp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kServiceName = "service.name";
constexpr std::string_view kDigits = "0123456789abcdef";

template <std::size_t size>
bool read_id(std::string_view bytes, std::array<std::uint8_t, size>& id) {
  if (bytes.size() != size) return false;
  std::memcpy(id.data(), bytes.data(), size);
  return id != std::array<std::uint8_t, size>{};
}

/// Reads nested attribute values; the depth is bounded.
class ValueReader {
 public:
  explicit ValueReader(const Limits& limits) : limits_(limits) {}

  bool attribute(std::string_view bytes, std::vector<Attribute>& out) {
    if (out.size() >= limits_.attributes) return false;
    Attribute attribute;
    if (!key_value(bytes, attribute.key, [&](std::string_view value) { return read(value, attribute.value); })) {
      return false;
    }
    out.push_back(std::move(attribute));
    return true;
  }

 private:
  /// KeyValue: 1 key, 2 value.
  template <typename ReadValue>
  bool key_value(std::string_view bytes, std::string& key, const ReadValue& read_value) {
    ProtobufReader fields(bytes);
    while (const auto field = fields.next()) {
      if (field->number == 1 && field->is_bytes) key = field->bytes;
      if (field->number == 2 && (!field->is_bytes || !read_value(field->bytes))) return false;
    }
    return !fields.malformed();
  }

  /// AnyValue: 1 text, 2 bool, 3 integer, 4 real, 5 list, 6 map, 7 bytes. The last one that is there counts.
  bool read(std::string_view bytes, Value& out) {
    ProtobufReader fields(bytes);
    while (const auto field = fields.next()) {
      out = {};
      if (field->number > 7 || field->is_bytes != (field->number == 1 || field->number >= 5)) return false;
      switch (field->number) {
        case 1:
          out = {.kind = Value::Kind::kText, .text = std::string(field->bytes)};
          break;
        case 2:
          out = {.kind = Value::Kind::kBool, .truth = field->value != 0};
          break;
        case 3:
          out = {.kind = Value::Kind::kInteger, .integer = static_cast<std::int64_t>(field->value)};
          break;
        case 4:
          out = {.kind = Value::Kind::kReal, .real = std::bit_cast<double>(field->value)};
          break;
        case 7:
          out = {.kind = Value::Kind::kBytes, .text = std::string(field->bytes)};
          break;
        default: {
          Json json;
          if (!nested(*field, 1, json)) return false;
          out = {.kind = Value::Kind::kJson, .text = json_line(json)};
        }
      }
    }
    return !fields.malformed();
  }

  /// ArrayValue and KeyValueList: 1, again and again.
  bool nested(const ProtobufField& holder, unsigned depth, Json& out) {
    if (depth > limits_.depth) return false;
    const bool list = holder.number == 5;
    out = list ? Json::array() : Json::object();
    ProtobufReader items(holder.bytes);
    while (const auto item = items.next()) {
      if (item->number != 1 || !item->is_bytes) continue;
      Json value;
      std::string key;
      const auto read_value = [&](std::string_view bytes) { return json(bytes, depth, value); };
      if (!(list ? read_value(item->bytes) : key_value(item->bytes, key, read_value))) return false;
      if (list) {
        out.push_back(std::move(value));
      } else {
        out[key] = std::move(value);
        // In the order that they came in, which costs a look at all before for each.
        if (out.size() > limits_.attributes) return false;
      }
    }
    return !items.malformed();
  }

  bool json(std::string_view bytes, unsigned depth, Json& out) {
    ProtobufReader fields(bytes);
    while (const auto field = fields.next()) {
      if (field->is_bytes && (field->number == 5 || field->number == 6)) {
        if (!nested(*field, depth + 1, out)) return false;
        continue;
      }
      if (field->number > 7 || field->is_bytes != (field->number == 1 || field->number == 7)) return false;
      if (field->number == 2) out = field->value != 0;
      if (field->number == 3) out = static_cast<std::int64_t>(field->value);
      if (field->number == 4) out = std::bit_cast<double>(field->value);
      if (field->number == 1) out = std::string(field->bytes);
      if (field->number == 7) out = to_base64(field->bytes);
    }
    return !fields.malformed();
  }

  const Limits& limits_;
};

/// Event: 1 time, 2 name, 3 attributes.
bool read_event(std::string_view bytes, const Limits& limits, std::vector<Event>& out) {
  if (out.size() >= limits.events) return false;
  Event event;
  ProtobufReader fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == 1 && !field->is_bytes) event.time_ns = field->value;
    if (field->number == 2 && field->is_bytes) event.name = field->bytes;
    if (field->number != 3) continue;
    if (!field->is_bytes || !ValueReader(limits).attribute(field->bytes, event.attributes)) return false;
  }
  out.push_back(std::move(event));
  return !fields.malformed();
}

/// Link: 1 trace, 2 span.
bool read_link(std::string_view bytes, const Limits& limits, std::vector<Link>& out) {
  if (out.size() >= limits.links) return false;
  Link link;
  ProtobufReader fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == 1 && !read_id(field->bytes, link.trace)) return false;
    if (field->number == 2 && !read_id(field->bytes, link.span)) return false;
  }
  out.push_back(link);
  return !fields.malformed();
}

/// Status: 2 message, 3 code.
bool read_status(std::string_view bytes, Span& span) {
  ProtobufReader fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == 2 && field->is_bytes) span.status_message = field->bytes;
    if (field->number == 3 && !field->is_bytes && field->value <= 2) {
      span.status = static_cast<StatusCode>(field->value);
    }
  }
  return !fields.malformed();
}

bool read_number_field(const ProtobufField& field, Span& span) {
  if (field.number == 6) span.kind = field.value <= 5 ? static_cast<std::uint8_t>(field.value) : 0;
  if (field.number == 7) span.start_ns = field.value;
  if (field.number == 8) span.end_ns = field.value;
  return true;
}

bool read_bytes_field(const ProtobufField& field, const Limits& limits, Span& span) {
  switch (field.number) {
    case 1:
      return read_id(field.bytes, span.trace);
    case 2:
      return read_id(field.bytes, span.id);
    case 3:
      span.state = field.bytes;
      return true;
    case 4:
      // A parent of no bytes, and one of zeros, is none.
      return field.bytes.empty() || read_id(field.bytes, span.parent) || field.bytes.size() == span.parent.size();
    case 5:
      span.name = field.bytes;
      return true;
    case 9:
      return ValueReader(limits).attribute(field.bytes, span.attributes);
    case 11:
      return read_event(field.bytes, limits, span.events);
    case 13:
      return read_link(field.bytes, limits, span.links);
    case 15:
      return read_status(field.bytes, span);
    default:
      return true;
  }
}

template <std::size_t size>
std::string hex_of(const std::array<std::uint8_t, size>& id) {
  std::string text;
  for (const std::uint8_t byte : id) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

template <std::size_t size>
std::optional<std::array<std::uint8_t, size>> parse_hex(std::string_view text) {
  if (text.empty() || text.size() > 2 * size) return std::nullopt;
  std::array<std::uint8_t, size> id{};
  std::size_t position = 2 * size - text.size();
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit >= 'A' && digit <= 'F' ? static_cast<char>(digit + 32) : digit);
    if (value == std::string_view::npos) return std::nullopt;
    id[position / 2] = static_cast<std::uint8_t>(id[position / 2] << 4 | value);
    ++position;
  }
  if (id == std::array<std::uint8_t, size>{}) return std::nullopt;
  return id;
}

}  // namespace

std::optional<Span> read_span(std::string_view bytes, const Limits& limits) {
  if (bytes.size() > limits.span_bytes) return std::nullopt;
  Span span;
  ProtobufReader fields(bytes);
  while (const auto field = fields.next()) {
    const bool fine = field->is_bytes ? read_bytes_field(*field, limits, span) : read_number_field(*field, span);
    if (!fine) return std::nullopt;
  }
  if (fields.malformed() || span.trace == TraceId{} || span.id == SpanId{}) return std::nullopt;
  return span;
}

std::optional<Source> read_source(std::string_view resource, const Limits& limits) {
  if (resource.size() > limits.source_bytes) return std::nullopt;
  Source source;
  ProtobufReader fields(resource);
  while (const auto field = fields.next()) {
    if (field->number != 1) continue;
    if (!field->is_bytes || !ValueReader(limits).attribute(field->bytes, source.attributes)) return std::nullopt;
  }
  if (fields.malformed()) return std::nullopt;
  const auto service = std::ranges::find(source.attributes, kServiceName, &Attribute::key);
  if (service != source.attributes.end()) {
    source.service = text_of(service->value);
    source.attributes.erase(service);
  }
  // What the semantic conventions prescribe for who does not say it.
  if (source.service.empty()) source.service = "unknown_service";
  return source;
}

bool read_scope(std::string_view scope, Source& source, const Limits& limits) {
  if (scope.size() > limits.source_bytes) return false;
  source.scope.clear();
  source.scope_version.clear();
  ProtobufReader fields(scope);
  while (const auto field = fields.next()) {
    if (field->number == 1 && field->is_bytes) source.scope = field->bytes;
    if (field->number == 2 && field->is_bytes) source.scope_version = field->bytes;
  }
  return !fields.malformed();
}

std::string_view kind_word(std::uint8_t kind) {
  constexpr std::array<std::string_view, 6> kWords = {"", "internal", "server", "client", "producer", "consumer"};
  return kind < kWords.size() ? kWords[kind] : "";
}

std::string hex(const TraceId& id) { return hex_of(id); }
std::string hex(const SpanId& id) { return hex_of(id); }
std::optional<TraceId> parse_trace_id(std::string_view text) { return parse_hex<16>(text); }
std::optional<SpanId> parse_span_id(std::string_view text) { return parse_hex<8>(text); }

std::string text_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNone:
      return {};
    case Value::Kind::kBool:
      return value.truth ? "true" : "false";
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kReal: {
      char text[32];
      return {text, std::to_chars(text, text + sizeof text, value.real).ptr};
    }
    case Value::Kind::kBytes:
      return to_base64(value.text);
    case Value::Kind::kText:
    case Value::Kind::kJson:
      return value.text;
  }
  return {};
}

}  // namespace edge::otlp
