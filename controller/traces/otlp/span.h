// A span as OpenTelemetry has it, read from the bytes of opentelemetry/proto/trace/v1/trace.proto.
//
// Values that hold others (lists and maps) are read as the JSON text that shows them: nothing here asks for their
// parts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edge::otlp {

/// Times of OTLP are in nanoseconds, those of Jaeger in microseconds.
inline constexpr std::uint64_t kNanosInMicro = 1000;

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

struct Value {
  enum class Kind : std::uint8_t { kNone, kText, kBool, kInteger, kReal, kBytes, kJson };
  Kind kind = Kind::kNone;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text{};  ///< of kText, kBytes and kJson

  friend bool operator==(const Value&, const Value&) = default;
};

struct Attribute {
  std::string key;
  Value value;
};

struct Event {
  std::uint64_t time_ns = 0;
  std::string name;
  std::vector<Attribute> attributes;
};

struct Link {
  TraceId trace{};
  SpanId span{};
};

enum class StatusCode : std::uint8_t { kUnset = 0, kOk = 1, kError = 2 };

struct Span {
  TraceId trace{};
  SpanId id{};
  SpanId parent{};  ///< all zero: none
  std::string state;
  std::string name;
  std::uint8_t kind = 0;  ///< kind_word
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::vector<Attribute> attributes;
  std::vector<Event> events;
  std::vector<Link> links;
  StatusCode status = StatusCode::kUnset;
  std::string status_message;

  bool has_parent() const { return parent != SpanId{}; }
  std::uint64_t duration_ns() const { return end_ns > start_ns ? end_ns - start_ns : 0; }
};

/// Who made spans: the resource, and the part of the program in it.
struct Source {
  std::string service;
  std::vector<Attribute> attributes;  ///< of the resource, but `service.name`
  std::string scope;
  std::string scope_version;
};

/// What a sender may make us take. Spans over any of them are refused, with the rest of the request kept.
struct Limits {
  std::size_t requests_spans = 10'000;  ///< of one request
  std::size_t span_bytes = std::size_t{64} << 10;
  std::size_t source_bytes = std::size_t{16} << 10;
  std::size_t attributes = 256;  ///< of a span, an event or a resource; entries of a map
  std::size_t events = 512;
  std::size_t links = 128;
  unsigned depth = 8;  ///< of values within values
};

/// nullopt: malformed, over a limit, or without the ids that a span must have.
std::optional<Span> read_span(std::string_view bytes, const Limits& limits = {});
/// Of the message Resource; without a scope.
std::optional<Source> read_source(std::string_view resource, const Limits& limits = {});
/// Sets the scope of `source` to the message InstrumentationScope. \returns false as read_source nullopt.
bool read_scope(std::string_view scope, Source& source, const Limits& limits = {});

/// `server`, `client`, `producer`, `consumer`, `internal`; empty: none is said.
std::string_view kind_word(std::uint8_t kind);
/// Lower-case digits.
std::string hex(const TraceId& id);
std::string hex(const SpanId& id);
/// One to 32 digits of either case, shorter ones as if zeros stood before them. nullopt: else, and all zeros.
std::optional<TraceId> parse_trace_id(std::string_view text);
std::optional<SpanId> parse_span_id(std::string_view text);
/// As people read it: numbers and truths in decimal and words, bytes in base64.
std::string text_of(const Value& value);

}  // namespace edge::otlp
