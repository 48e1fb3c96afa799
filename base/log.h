// The log of a daemon for its operator: lines with a level, a sentence and fields, as text or as JSON.
//
// Logging never blocks: lines are put into a bounded ring, and one thread writes them to the descriptor. When that is
// slower, the oldest lines are dropped and counted. /debug/logs shows the ring.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edge {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
/// `debug`, `info`, `warn`, `error`.
std::string_view to_string(LogLevel level);
std::optional<LogLevel> parse_log_level(std::string_view text);

enum class LogFormat : std::uint8_t { kText, kJson };

struct LogField {
  std::string key;
  std::string value;
};
using LogFields = std::vector<LogField>;

struct LogRecord {
  std::uint64_t number = 0;  ///< counts from 1
  std::chrono::system_clock::time_point time{};
  LogLevel level = LogLevel::kInfo;
  std::string text{};  ///< a sentence, without a newline
  LogFields fields{};
  std::string block{};  ///< further lines, shown below it: diagnostics
};

/// Returns `<time> <level> <program>: <sentence> key=value ...`, and the block below. Nothing in it can pass for a
/// separate line: control bytes and invalid UTF-8 are escaped, the block's lines are indented.
std::string log_line_text(const LogRecord& record, std::string_view program);
/// The same without time and program, which the journal adds, after its priority `<N>` (sd-daemon(3)).
std::string log_line_journal(const LogRecord& record, LogFormat format, std::string_view program);
/// Returns one object, without a newline: time, level, program, seq, msg, the fields, and `block`.
std::string log_line_json(const LogRecord& record, std::string_view program);
/// Returns RFC 3339 in UTC with milliseconds.
std::string log_time(std::chrono::system_clock::time_point time);

/// Writes log lines for a part of a daemon. Copies share the destination. Threads: any.
class Logger {
 public:
  using Sink = std::function<void(LogLevel level, std::string text, LogFields fields)>;

  /// Discards all lines.
  Logger() = default;
  explicit Logger(Sink sink) : sink_(std::move(sink)) {}

  void debug(std::string text, LogFields fields = {}) const {
    write(LogLevel::kDebug, std::move(text), std::move(fields));
  }
  void info(std::string text, LogFields fields = {}) const {
    write(LogLevel::kInfo, std::move(text), std::move(fields));
  }
  void warn(std::string text, LogFields fields = {}) const {
    write(LogLevel::kWarn, std::move(text), std::move(fields));
  }
  void error(std::string text, LogFields fields = {}) const {
    write(LogLevel::kError, std::move(text), std::move(fields));
  }
  void write(LogLevel level, std::string text, LogFields fields = {}) const {
    if (sink_) sink_(level, std::move(text), std::move(fields));
  }

 private:
  Sink sink_;
};

struct LogOptions {
  std::string program{};
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
  /// Duplicated. If it is the journal's, lines carry priorities.
  int descriptor = 2;
  std::size_t max_lines = 4096;
  std::size_t max_bytes = std::size_t{2} << 20;
};

/// Selects stored lines.
struct LogQuery {
  LogLevel least = LogLevel::kDebug;
  std::optional<std::chrono::system_clock::time_point> since{};
  std::uint64_t after = 0;  ///< a record's number; later ones are returned
  std::optional<std::size_t> tail{};
  std::size_t limit = 10'000;
};

struct LogLines {
  std::vector<std::shared_ptr<const LogRecord>> records;  ///< oldest first
  std::uint64_t next = 0;                                 ///< the next value of `after`
  std::uint64_t missed = 0;                               ///< after `after`, and no longer stored
};

/// Threads: any.
class Log {
 public:
  explicit Log(LogOptions options);
  /// Writes remaining lines, waiting a second at most.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// `fields` precede those of each line. The log must outlive the logger.
  Logger logger(LogFields fields = {});
  void write(LogLevel level, std::string text, LogFields fields = {}, std::string block = {});

  void set_level(LogLevel level);
  LogLevel level() const;
  LogLines recent(const LogQuery& query) const;
  const std::string& program() const;
  LogFormat format() const;
  /// Returns the number of lines that were not written.
  std::uint64_t dropped() const;
  /// \returns whether all earlier lines have been written.
  bool flush(std::chrono::nanoseconds patience);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Rate limit for lines that peers can cause: some at once, then as many per interval.
class LogLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  LogLimit(unsigned lines, std::chrono::nanoseconds interval) : lines_(lines), interval_(interval) {}

  /// Returns nullopt when the line must not be written, else the number of lines suppressed since the last one. Any
  /// thread.
  std::optional<std::uint64_t> admit(Time now = std::chrono::steady_clock::now());

 private:
  const unsigned lines_;
  const std::chrono::nanoseconds interval_;
  std::mutex mutex_;
  Time began_{};          // guarded by the mutex, like all below
  unsigned written_ = 0;  ///< in this interval
  std::uint64_t held_ = 0;
};

}  // namespace edge
