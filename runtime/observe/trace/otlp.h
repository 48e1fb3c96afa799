// OTLP's messages around spans (opentelemetry-proto 1.x, trace_service.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::runtime::trace {

/// Who tells: attributes such as `service.name`.
using Resource = std::vector<std::pair<std::string, std::string>>;

/// What of every message is the same, made once.
class MessageFrame {
 public:
  explicit MessageFrame(const Resource& resource);
  /// What of an ExportTraceServiceRequest stands before so many bytes of spans, as append_span writes them.
  std::string head(std::size_t spans) const;

 private:
  std::string resource_;
  std::string scope_;
};

/// What an ExportTraceServiceResponse says of spans that were not taken. Bytes at fault say nothing.
struct PartialSuccess {
  std::uint64_t rejected = 0;
  std::string why{};
};
PartialSuccess read_answer(std::string_view message);

}  // namespace edge::runtime::trace
