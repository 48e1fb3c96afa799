// OTLP's messages around spans (opentelemetry-proto 1.x, trace_service.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::runtime::trace {

/// The resource that produces the spans: attributes such as `service.name`.
using Resource = std::vector<std::pair<std::string, std::string>>;

/// The parts that are equal in every message, encoded once.
class MessageFrame {
 public:
  explicit MessageFrame(const Resource& resource);
  /// Returns the bytes of an ExportTraceServiceRequest that precede `spans` bytes of spans in the form of append_span.
  std::string head(std::size_t spans) const;

 private:
  std::string resource_;
  std::string scope_;
};

/// The rejected spans in an ExportTraceServiceResponse. Malformed bytes count as none.
struct PartialSuccess {
  std::uint64_t rejected = 0;
  std::string why{};
};
PartialSuccess read_answer(std::string_view message);

}  // namespace edge::runtime::trace
