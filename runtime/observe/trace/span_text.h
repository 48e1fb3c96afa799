// Spans in OTLP's encoding (opentelemetry-proto 1.x, trace.proto), written by the thread that ends them: the exporter
// only concatenates. Nothing here allocates once its buffers have grown.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/observe/trace/trace_context.h"

namespace edge::runtime::trace {

/// Values as in OTLP.
enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2, kClient = 3 };

/// An attribute's name, encoded at compile time up to the tag of its value.
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

  /// Copied as a whole, which is two instructions.
  std::array<char, 32> bytes_{};
  std::uint8_t size_;
};

/// A buffer for encoded bytes that is reused: it keeps its largest size, and only its beginning is in use. Bytes that
/// will be overwritten are not cleared.
class Composed {
 public:
  /// Returns the write position, with room for `size` bytes and kSpare more.
  char* room(std::size_t size) {
    if (bytes_.size() - size_ < size + kSpare) [[unlikely]]
      grow(size + kSpare);
    return bytes_.data() + size_;
  }
  void wrote_to(const char* end) { size_ = static_cast<std::size_t>(end - bytes_.data()); }
  std::string_view view() const { return std::string_view(bytes_).substr(0, size_); }
  void clear() { size_ = 0; }

 private:
  /// Room for an AttributeName, which is copied as a whole.
  static constexpr std::size_t kSpare = 64;
  void grow(std::size_t size);

  std::string bytes_;
  std::size_t size_ = 0;
};

/// The attributes of a span, as fields `attributes` of a Span.
class Attributes {
 public:
  /// Longer texts are truncated.
  static constexpr std::size_t kMaxText = 512;

  /// Adds an attribute. Invalid UTF-8, which protocol buffers do not allow in a string, becomes `?`.
  void add(const AttributeName& name, std::string_view text);
  void add(const AttributeName& name, std::int64_t number);
  std::string_view bytes() const { return composed_.view(); }
  void clear() { composed_.clear(); }

 private:
  void add_text(const AttributeName& name, std::string_view text);

  Composed composed_;
};

/// A span without its attributes.
struct SpanHead {
  TraceId trace;
  SpanId id = 0;
  SpanId parent = 0;
  SpanKind kind = SpanKind::kInternal;
  std::string_view name;
  /// Nanoseconds since 1970.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// The reason of a failure, a short word; empty: none.
  std::string_view error{};
};

/// The span as a field `spans` of a ScopeSpans. `ready`: attributes encoded before, as Attributes::bytes.
struct SpanMessage {
  SpanMessage(const SpanHead& of, const Attributes& with, std::string_view ready = {});

  std::size_t size() const { return whole; }
  /// Writes the span. \returns the end.
  char* write(char* at) const;

  const SpanHead& head;
  std::string_view attributes;
  std::string_view ready;

 private:
  std::size_t status;
  std::size_t inner;
  std::size_t whole;
};
void append_span(const SpanHead& head, const Attributes& attributes, std::string& out);

/// Returns the size of the first field in `spans`, as written by append_span.
std::size_t first_span_size(std::string_view spans);

}  // namespace edge::runtime::trace
