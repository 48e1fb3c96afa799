// The access log of a process: serving threads put entries into rings of their own, one writer thread formats them as
// lines and keeps the latest for admin requests. When the writer falls behind, entries are dropped and counted; traffic
// never waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "runtime/observe/access_log/entry.h"
#include "runtime/observe/access_log/file.h"
#include "runtime/observe/access_log/line.h"
#include "runtime/observe/access_log/recent.h"
#include "runtime/observe/access_log/ring.h"

namespace edge::runtime {

struct AccessLogCounts {
  std::uint64_t written = 0;         ///< lines written, or only kept in memory where there is no file
  std::uint64_t dropped_busy = 0;    ///< entries that found no room in the ring: the writer was too slow
  std::uint64_t dropped_output = 0;  ///< lines that the file or the pipe did not accept
};

class AccessLog {
 public:
  /// Opens the file; the writer thread starts with the first gateway that has a log. `reopen_on`: a descriptor that
  /// becomes readable when the file is to be reopened (a signalfd); invalid: only `reopen` does so.
  static Result<std::unique_ptr<AccessLog>> open(LogFileOptions options, std::function<void(const std::string&)> tell,
                                                 net::Fd reopen_on = {});
  /// Writes the remaining entries as far as the output accepts them; waits a second at most. All Pens must be out of
  /// use.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// A serving thread's access to the log; lives as long as the log.
  class Pen {
   public:
    explicit Pen(AccessLog& log) : log_(log) {}
    /// Queues an entry. Never blocks, locks or allocates.
    void write(const LogEntry& entry) {
      if (ring_.put(entry)) log_.wake_writer();
      if (ring_.crowded()) [[unlikely]] {
        log_.hurry_writer();
      }
    }

   private:
    friend class AccessLog;
    AccessLog& log_;
    LogRing ring_;
  };

  // Threads: any.
  Pen& add_thread();
  /// Returns the parsed format of a text; each text is parsed once. Lives as long as the log: queued entries refer to
  /// it.
  const LogFormat& format(std::string_view text);
  /// Reopens the file, after it was renamed.
  void reopen();
  AccessLogCounts counts() const;
  /// Returns the latest entries, as lines of JSON.
  std::string recent(const RecentQuery& query) const { return recent_.find(query); }

 private:
  explicit AccessLog(LogFile file);
  void wake_writer() {
    // Read after the ring's own write (LogRing::put), both sequentially consistent, and the writer does it in the
    // reverse order: either the writer sees the entry, or this thread sees that the writer sleeps.
    if (asleep_.load(std::memory_order_seq_cst) && asleep_.exchange(false)) ring_bell();
  }
  /// Wakes the writer once per sleep: half of the ring is left for entries until it runs.
  void hurry_writer() {
    if (!hurried_.load(std::memory_order_relaxed) && !hurried_.exchange(true)) ring_bell();
  }
  void ring_bell() const;
  void run();
  std::size_t take_entries();
  void write_line(std::span<const char> flat);
  void flush();
  void rest(std::size_t taken);

  LogFile file_;
  LineWriter writer_;
  RecentLog recent_;
  net::Fd bell_;
  net::Fd reopen_on_;
  std::atomic<bool> asleep_{false};
  /// Whether the writer was woken early since its last sleep.
  std::atomic<bool> hurried_{false};
  std::atomic<bool> reopen_{false};
  std::atomic<bool> stop_{false};
  net::Counter written_;
  net::Counter dropped_output_;
  /// Lines that the file has not accepted yet; those before `flushed_` it has.
  std::string lines_;
  std::size_t flushed_ = 0;
  /// The number of these lines, and the size of `lines_` at which writing is tried again.
  std::uint64_t waiting_ = 0;
  std::size_t try_at_ = 0;

  mutable std::mutex mutex_;  ///< guards all that follows
  std::deque<Pen> pens_;
  std::deque<LogFormat> formats_;
  std::thread thread_;
};

}  // namespace edge::runtime
