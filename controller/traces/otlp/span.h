// A span as defined by OpenTelemetry, parsed from opentelemetry/proto/trace/v1/trace.proto.
//
// Nested values (lists and maps) are converted to JSON text, since their parts are not needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edge::otlp {

/// OTLP's times are in nanoseconds, Jaeger's in microseconds.
inline constexpr std::uint64_t kNanosInMicro = 1000;

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

struct Value {
  enum class Kind : std::uint8_t { kNone, kText, kBool, kInteger, kReal, kBytes, kJson };
  Kind kind = Kind::kNone;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text{};  ///< for kText, kBytes and kJson

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
  std::uint8_t kind = 0;  ///< see kind_word
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

/// The producer of spans: the resource, and the instrumentation scope.
struct Source {
  std::string service;
  std::vector<Attribute> attributes;  ///< of the resource, except `service.name`
  std::string scope;
  std::string scope_version;
};

/// Limits for senders. Spans above any of them are refused; the rest of the request is accepted.
struct Limits {
  std::size_t requests_spans = 10'000;  ///< per request
  std::size_t span_bytes = std::size_t{64} << 10;
  std::size_t source_bytes = std::size_t{16} << 10;
  std::size_t attributes = 256;  ///< per span, event or resource; entries of a map
  std::size_t events = 512;
  std::size_t links = 128;
  unsigned depth = 8;  ///< of nested values
};

/// Parses a span. nullopt: malformed, over a limit, or without the required ids.
std::optional<Span> read_span(std::string_view bytes, const Limits& limits = {});
/// Parses the message Resource; without a scope.
std::optional<Source> read_source(std::string_view resource, const Limits& limits = {});
/// Sets the scope of `source` from the message InstrumentationScope. \returns false where read_source returns nullopt.
bool read_scope(std::string_view scope, Source& source, const Limits& limits = {});

/// `server`, `client`, `producer`, `consumer`, `internal`; empty: unspecified.
std::string_view kind_word(std::uint8_t kind);
/// Lower-case digits.
std::string hex(const TraceId& id);
std::string hex(const SpanId& id);
/// Parses one to 32 hexadecimal digits of either case, left-padded with zeros. nullopt: invalid, or all zeros.
std::optional<TraceId> parse_trace_id(std::string_view text);
std::optional<SpanId> parse_span_id(std::string_view text);
/// Returns a value for display: numbers in decimal, `true` and `false`, bytes in base64.
std::string text_of(const Value& value);

}  // namespace edge::otlp
