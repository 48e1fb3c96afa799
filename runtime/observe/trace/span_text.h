// Spans as OTLP has them (opentelemetry-proto 1.x, trace.proto), written where they end: whoever exports them only
// joins what he finds. Nothing here allocates once its buffers have grown.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/observe/trace/trace_context.h"

namespace edge::runtime::trace {

/// The numbers are OTLP's.
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };

/// The name of an attribute, as far as the tag of its value, encoded where it is compiled.
class AttributeName {
 public:
  static constexpr std::size_t kMax = 29;

  template <std::size_t kSize>
    requires(kSize <= kMax + 1)
  consteval AttributeName(const char (&name)[kSize]) : size_(kSize + 2) {  // NOLINT(google-explicit-constructor)
    bytes_[0] = kKey;
    bytes_[1] = kSize - 1;
    std::copy_n(name, kSize - 1, bytes_.begin() + 2);
    bytes_[kSize + 1] = kValue;
  }

 private:
  friend class Attributes;
  /// Tags of a KeyValue's fields.
  static constexpr char kKey = 1 << 3 | 2;
  static constexpr char kValue = 2 << 3 | 2;

  /// Copied as a whole, which is two moves of the processor.
  std::array<char, 32> bytes_{};
  std::uint8_t size_;
};

/// What is said of a span, as fields `attributes` of a Span.
class Attributes {
 public:
  /// Longer texts are cut.
  static constexpr std::size_t kMaxText = 512;

  /// Bytes that are no UTF-8, which a text of protocol buffers must be, become `?`.
  void add(const AttributeName& name, std::string_view text);
  void add(const AttributeName& name, std::int64_t number);
  std::string_view bytes() const { return std::string_view(bytes_).substr(0, size_); }
  void clear() { size_ = 0; }

 private:
  /// Where to write, so much and a bit more.
  char* room(std::size_t size);
  void wrote_to(const char* end) { size_ = static_cast<std::size_t>(end - bytes_.data()); }
  void add_text(const AttributeName& name, std::string_view text);

  /// As large as it had to be so far; only the beginning is in use.
  std::string bytes_;
  std::size_t size_ = 0;
};

/// A span but for its attributes.
struct SpanHead {
  TraceId trace;
  SpanId id = 0;
  SpanId parent = 0;
  SpanKind kind = SpanKind::kInternal;
  std::string_view name;
  /// Nanoseconds since 1970.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// Why it failed, a short word; empty: it did not.
  std::string_view error{};
};

/// Appends the span as a field `spans` of a ScopeSpans.
void append_span(const SpanHead& head, const Attributes& attributes, std::string& out);

/// The size of the first such field of `spans`, which append_span wrote.
std::size_t first_span_size(std::string_view spans);

}  // namespace edge::runtime::trace
