// The thread that puts spans on the disk. Whoever brings them waits for nothing: what does not fit into the bounded
// queue, because the disk is slow, is dropped and counted.
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
  /// Microseconds since the epoch; null: the system's clock.
  std::function<std::int64_t()> clock{};
  /// One line when writing begins to fail, and one when it works again. On the writer's thread. Null: nobody.
  Logger log{};
};

/// From any thread, but where it says otherwise.
class TraceWriter {
 public:
  /// Opens the file; one that is no database is put aside, with a line.
  static Result<std::unique_ptr<TraceWriter>> start(TraceWriterOptions options);
  /// Writes what is waiting, as far as the disk takes it, and joins.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// \returns how many of them were dropped: all that did not fit.
  std::size_t offer(std::vector<IncomingSpan> spans);
  void count_refused(std::uint64_t spans);
  void count_refused_request();
  TraceCounts counts() const;
  /// Waits until nothing waits to be written; for tests. \returns false after `patience`.
  bool wait_until_idle(std::chrono::milliseconds patience);

 private:
  TraceWriter(TraceWriterOptions options, std::unique_ptr<TraceFile> file);
  void run();
  void write(const std::vector<IncomingSpan>& spans);
  void note(const Status& status);
  std::int64_t now() const;

  const TraceWriterOptions options_;
  std::unique_ptr<TraceFile> file_;  ///< of the thread
  bool failing_ = false;             ///< of the thread

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
