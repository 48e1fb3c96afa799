// A span on its way from a sender into the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/traces/otlp/span.h"

namespace edge::traces {

/// Who sent it; shared by the spans of one request.
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
  /// Of `source`, on the first span that has it: senders may give each span one of its own.
  std::size_t source_bytes = 0;

  /// Of memory while it waits, and about what it takes in the file.
  std::size_t size() const { return sizeof(IncomingSpan) + name.size() + bytes.size() + source_bytes; }
};

}  // namespace edge::traces
