// Lines of the access log. In every format what a client says can neither end a line nor a field in quotes, nor drive
// the terminal that shows it.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/log_format.h"
#include "runtime/observe/log_entry.h"

namespace edge::runtime {

/// A gateway's format, read. Immutable.
class LogFormat {
 public:
  /// What cannot be read is `json`, as the compiler has it.
  explicit LogFormat(std::string_view text);
  LogFormat(const LogFormat&) = delete;
  LogFormat& operator=(const LogFormat&) = delete;

  std::string_view text() const { return text_; }
  bool json() const { return reading_.json; }
  const std::vector<program::LogPiece>& pieces() const { return reading_.pieces; }

 private:
  std::string text_;
  program::LogFormatReading reading_;
};

/// Writes lines. Of one thread: remembers how the last second is written.
class LineWriter {
 public:
  /// Appends the line that the entry's format makes of it, its newline included.
  void write(const LogEntry& entry, std::string& out);
  /// Appends a line of JSON, whatever the entry's format; with its number, where there is one.
  void write_json(const LogEntry& entry, std::optional<std::uint64_t> number, std::string& out);

 private:
  void piece(const program::LogPiece& piece, const LogEntry& entry, std::string& out);
  void time(std::uint64_t unix_milliseconds, std::string& out);
  void time_common(std::uint64_t unix_milliseconds, std::string& out);
  const std::tm& second_of(std::uint64_t unix_milliseconds);

  std::uint64_t second_ = ~std::uint64_t{0};
  std::tm utc_{};
};

}  // namespace edge::runtime
