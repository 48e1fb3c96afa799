// The thread that writes spans to disk. Senders never wait: spans that do not fit into the bounded queue, because the
// disk is slow, are dropped and counted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/traces/incoming_span.h"
#include "controller/traces/trace_counts.h"
#include "controller/traces/trace_file.h"

namespace edge::traces {

struct TraceWriterOptions {
  std::string path;
  TraceLimits limits{};
  std::size_t queue_bytes = std::size_t{8} << 20;
  /// Microseconds since the epoch; null: the system clock.
  std::function<std::int64_t()> clock{};
  /// Gets a message when writing begins to fail, and when it works again. On the writer's thread. May be null.
  Logger log{};
};

/// Threads: any, except as stated.
class TraceWriter {
 public:
  /// Opens the file; one that is not a database is set aside, with a log message.
  static Result<std::unique_ptr<TraceWriter>> start(TraceWriterOptions options);
  /// Writes queued spans, as far as the disk accepts them, and joins.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// \returns how many were dropped because they did not fit.
  std::size_t offer(std::vector<IncomingSpan> spans);
  void count_refused(std::uint64_t spans);
  void count_refused_request();
  TraceCounts counts() const;
  /// Waits until the queue is empty; for tests. \returns false after `patience`.
  bool wait_until_idle(std::chrono::milliseconds patience);

 private:
  TraceWriter(TraceWriterOptions options, std::unique_ptr<TraceFile> file);
  void run();
  void write(const std::vector<IncomingSpan>& spans);
  void note(const Status& status);
  std::int64_t now() const;

  const TraceWriterOptions options_;
  std::unique_ptr<TraceFile> file_;  ///< used by the thread
  bool failing_ = false;             ///< used by the thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<IncomingSpan> queue_;
  std::size_t queued_bytes_ = 0;
  bool writing_ = false;
  bool ending_ = false;
  TraceCounts counts_;
  std::thread thread_;
};

}  // namespace edge::traces
