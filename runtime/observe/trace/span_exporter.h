// Sends buffered spans to a trace collector: in batches, from a thread of its own. A slow or unreachable collector
// costs spans, which are counted, and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/observe/trace/otlp.h"
#include "runtime/observe/trace/span_buffers.h"
#include "runtime/observe/trace/span_sender.h"

namespace edge::runtime::trace {

struct ExporterOptions {
  Resource resource{};
  /// Interval between two reads of the buffers, unless they fill up sooner.
  std::chrono::milliseconds interval = std::chrono::seconds(1);
  /// Timeout of one message.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  /// The backoff after failures doubles from first_pause to longest_pause; the collector's Retry-After takes
  /// precedence, up to longest_asked.
  std::chrono::milliseconds first_pause = std::chrono::milliseconds(500);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(15);
  std::chrono::milliseconds longest_asked = std::chrono::seconds(60);
  /// Spans that could not be sent for so long are dropped for newer ones.
  std::chrono::milliseconds keep = std::chrono::seconds(30);
  /// Time limit for sending the remaining spans in stop().
  std::chrono::milliseconds at_end = std::chrono::seconds(1);
  /// Called with a log line when sending begins to fail, and when it works again; on the exporter's thread.
  std::function<void(const std::string&)> tell{};
};

struct SpanCounts {
  std::uint64_t recorded = 0;     ///< spans of finished requests, including dropped ones
  std::uint64_t exported = 0;     ///< accepted by the collector
  std::uint64_t full = 0;         ///< dropped: the thread's buffer had no room
  std::uint64_t refused = 0;      ///< dropped: the collector rejected them
  std::uint64_t unreachable = 0;  ///< dropped: not accepted in time
  std::uint64_t at_end = 0;       ///< dropped: the process ended first
};

class SpanExporter {
 public:
  /// The most bytes of spans in a message, unless a single span is larger: collectors accept 4 MiB.
  static constexpr std::size_t kMaxBatch = std::size_t{1} << 20;

  /// To be created before any thread serves.
  SpanExporter(std::shared_ptr<SpanBuffers> buffers, std::unique_ptr<SpanSender> sender, ExporterOptions options);
  /// Calls stop().
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  /// Sends the remaining spans; waits about twice `at_end` at most. Requests must not end after it: their spans would
  /// be lost.
  void stop();
  /// Threads: any.
  SpanCounts counts() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace edge::runtime::trace
