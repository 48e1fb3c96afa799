// What a daemon tells whoever runs it: lines with a level, a sentence and fields, as text or as JSON.
//
// Whoever writes a line never waits: it goes into a ring of bounded size, and one thread brings it from there to the
// descriptor. Where that is slower than the lines come, the oldest are given up and counted. The ring is also what
// /debug/logs shows.
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
  std::string text{};  ///< a sentence, without its end
  LogFields fields{};
  std::string block{};  ///< lines that belong to it and are shown below it: diagnostics
};

/// `<time> <level> <program>: <sentence> key=value ...`, and the block below. Nothing in it can pass for a line of its
/// own: control bytes and what is not UTF-8 are escaped, the block's lines are indented.
std::string log_line_text(const LogRecord& record, std::string_view program);
/// The same without the time and the program, which the journal knows, behind its priority `<N>` (sd-daemon(3)).
std::string log_line_journal(const LogRecord& record, LogFormat format, std::string_view program);
/// One object, without the line's end: time, level, program, seq, msg, the fields, and `block`.
std::string log_line_json(const LogRecord& record, std::string_view program);
/// RFC 3339 in UTC with milliseconds.
std::string log_time(std::chrono::system_clock::time_point time);

/// Where a part of a daemon writes its lines. Copies write to the same place. From any thread.
class Logger {
 public:
  using Sink = std::function<void(LogLevel level, std::string text, LogFields fields)>;

  /// What is written goes nowhere.
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
  /// Duplicated. Where it is the journal's, lines carry priorities.
  int descriptor = 2;
  std::size_t max_lines = 4096;
  std::size_t max_bytes = std::size_t{2} << 20;
};

/// What is asked of the lines that are kept.
struct LogQuery {
  LogLevel least = LogLevel::kDebug;
  std::optional<std::chrono::system_clock::time_point> since{};
  std::uint64_t after = 0;  ///< a record's number; those behind it
  std::optional<std::size_t> tail{};
  std::size_t limit = 10'000;
};

struct LogLines {
  std::vector<std::shared_ptr<const LogRecord>> records;  ///< oldest first
  std::uint64_t next = 0;                                 ///< to be given as `after`
  std::uint64_t missed = 0;                               ///< behind `after`, and kept no more
};

/// All functions from any thread.
class Log {
 public:
  explicit Log(LogOptions options);
  /// What has been written goes out first, if that takes no more than a second.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// `fields` go before those of each line. The log must outlive it.
  Logger logger(LogFields fields = {});
  void write(LogLevel level, std::string text, LogFields fields = {}, std::string block = {});

  void set_level(LogLevel level);
  LogLevel level() const;
  LogLines recent(const LogQuery& query) const;
  const std::string& program() const;
  LogFormat format() const;
  /// Lines that never got out.
  std::uint64_t dropped() const;
  /// \returns whether everything that was written before is out.
  bool flush(std::chrono::nanoseconds patience);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// How often a line is written whose cause is in the hands of a peer: some at once, then as many an interval.
class LogLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  LogLimit(unsigned lines, std::chrono::nanoseconds interval) : lines_(lines), interval_(interval) {}

  /// nullopt: not now. Else how many were held back since the last that was written. From any thread.
  std::optional<std::uint64_t> admit(Time now = std::chrono::steady_clock::now());

 private:
  const unsigned lines_;
  const std::chrono::nanoseconds interval_;
  std::mutex mutex_;
  Time began_{};          // under the mutex, as all below
  unsigned written_ = 0;  ///< in this interval
  std::uint64_t held_ = 0;
};

}  // namespace edge
