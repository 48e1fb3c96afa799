// A received span on its way to the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/traces/otlp/span.h"

namespace edge::traces {

/// The sender; shared by the spans of one request.
struct IncomingSource {
  std::string service;
  std::string resource;  ///< OTLP's message Resource
  std::string scope;     ///< InstrumentationScope
};

struct IncomingSpan {
  otlp::TraceId trace{};
  otlp::SpanId id{};
  std::uint8_t kind = 0;
  std::int64_t start_us = 0;
  std::int64_t duration_us = 0;
  std::string name;
  std::string bytes;  ///< OTLP's message Span
  std::shared_ptr<const IncomingSource> source;
  /// Bytes of `source`, counted for its first span: senders may give each span its own.
  std::size_t source_bytes = 0;

  /// Returns the bytes used in memory, and about the same in the file.
  std::size_t size() const { return sizeof(IncomingSpan) + name.size() + bytes.size() + source_bytes; }
};

}  // namespace edge::traces
