// The access log of a process: threads that serve leave entries in rings of their own, one thread writes them as lines,
// and keeps the latest for whoever asks. When it falls behind entries are dropped and counted; traffic is never held.
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
  std::uint64_t written = 0;         ///< lines that were written, or kept alone where there is no file
  std::uint64_t dropped_busy = 0;    ///< entries for which a ring had no room: the writer was too slow
  std::uint64_t dropped_output = 0;  ///< lines that the file or the pipe did not take
};

class AccessLog {
 public:
  /// Opens the file; its thread starts with the first gateway that has a log. `reopen_on`: can be read when the file is
  /// to be opened anew (a signalfd); invalid: `reopen` alone says so.
  static Result<std::unique_ptr<AccessLog>> open(LogFileOptions options, std::function<void(const std::string&)> tell,
                                                 net::Fd reopen_on = {});
  /// Writes what is there still, as long as it goes in; waits a second at most. Who puts entries must have ended.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// The way of a thread that serves; lives as long as the log.
  class Pen {
   public:
    explicit Pen(AccessLog& log) : log_(log) {}
    /// Never waits, locks or allocates.
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

  // From any thread.
  Pen& add_thread();
  /// A format by its text, read once. Lives as long as the log: entries name it on their way.
  const LogFormat& format(std::string_view text);
  /// Opens the file anew, after it was renamed.
  void reopen();
  AccessLogCounts counts() const;
  /// The latest entries, as lines of JSON.
  std::string recent(const RecentQuery& query) const { return recent_.find(query); }

 private:
  explicit AccessLog(LogFile file);
  void wake_writer() {
    // Looked at after the ring's own write (LogRing::put), both sequentially consistent, as the writer does it the
    // other way round: either he sees the entry, or it is seen here that he sleeps.
    if (asleep_.load(std::memory_order_seq_cst) && asleep_.exchange(false)) ring_bell();
  }
  /// Once for each time that it rests: half of a ring is left for what comes until it looks.
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
  /// Since it rested last.
  std::atomic<bool> hurried_{false};
  std::atomic<bool> reopen_{false};
  std::atomic<bool> stop_{false};
  net::Counter written_;
  net::Counter dropped_output_;
  /// Lines that the file did not take yet; what is before `flushed_` it did.
  std::string lines_;
  std::size_t flushed_ = 0;
  /// Their number, and how large `lines_` is when the file is tried again.
  std::uint64_t waiting_ = 0;
  std::size_t try_at_ = 0;

  mutable std::mutex mutex_;  ///< of what follows
  std::deque<Pen> pens_;
  std::deque<LogFormat> formats_;
  std::thread thread_;
};

}  // namespace edge::runtime
