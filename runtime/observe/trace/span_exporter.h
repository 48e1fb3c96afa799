// Sends what SpanBuffers hold to a collector of traces: in batches, from a thread of its own. A collector that is slow,
// away or silent costs spans, which are counted, and nothing else.
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
  /// Between two looks at the buffers, unless they hold much.
  std::chrono::milliseconds interval = std::chrono::seconds(1);
  /// For one message.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  /// Doubled from the first to the second with every failure; a collector's own word (Retry-After) goes before, up to
  /// the third.
  std::chrono::milliseconds first_pause = std::chrono::milliseconds(500);
  std::chrono::milliseconds longest_pause = std::chrono::seconds(15);
  std::chrono::milliseconds longest_asked = std::chrono::seconds(60);
  /// What was fetched at once, and nobody took for so long, makes room for what is newer.
  std::chrono::milliseconds keep = std::chrono::seconds(30);
  /// For all that is left at the end.
  std::chrono::milliseconds at_end = std::chrono::seconds(1);
  /// Takes a line when sending begins to fail, and when it goes again. From the exporter's thread.
  std::function<void(const std::string&)> tell{};
};

struct SpanCounts {
  std::uint64_t recorded = 0;     ///< what requests left, dropped ones included
  std::uint64_t exported = 0;     ///< taken by the collector
  std::uint64_t full = 0;         ///< dropped: the thread's buffer had no room
  std::uint64_t refused = 0;      ///< dropped: the collector would not have them
  std::uint64_t unreachable = 0;  ///< dropped: nobody took them in time
  std::uint64_t at_end = 0;       ///< dropped: the process ended first
};

class SpanExporter {
 public:
  /// A message holds no more bytes of spans than this, or a single span: collectors take 4 MiB.
  static constexpr std::size_t kMaxBatch = std::size_t{1} << 20;

  /// Before any thread serves.
  SpanExporter(std::shared_ptr<SpanBuffers> buffers, std::unique_ptr<SpanSender> sender, ExporterOptions options);
  /// stop().
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  /// Sends what is there once more; waits for it about twice `at_end` at the most. No request may come to its end
  /// after it: it would not be told.
  void stop();
  /// From any thread.
  SpanCounts counts() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace edge::runtime::trace
