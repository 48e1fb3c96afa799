// Formats lines of the access log. In every format, text from a client cannot end a line or a quoted field, nor control
// the terminal that shows it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/log_format.h"
#include "runtime/observe/access_log/entry.h"

namespace edge::runtime {

/// A parsed format of a gateway. Immutable.
class LogFormat {
 public:
  /// Parses `text`; an invalid format is `json`, as in the compiler.
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

/// Formats lines. Used by one thread: it caches the text of the last second.
class LineWriter {
 public:
  /// Appends the line for an entry in its format, with the newline.
  void write(const LogEntry& entry, std::string& out);
  /// Appends a line of JSON, whatever the entry's format; with the entry's number, if given.
  void write_json(const LogEntry& entry, std::optional<std::uint64_t> number, std::string& out);

 private:
  /// Ensures `size` bytes at `at` of line_, which may move. \returns the new position.
  char* room(char* at, std::size_t size);
  char* piece(const program::LogPiece& piece, const LogEntry& entry, char* at);
  char* time(std::uint64_t unix_milliseconds, char* at);
  void look_at_second(std::uint64_t unix_milliseconds);

  /// The buffer in which a line is composed, so that its fields are written one after the other without checking for
  /// room.
  std::vector<char> line_;
  std::uint64_t second_ = ~std::uint64_t{0};
  /// `2026-11-21T02:30:45.` and `21/Nov/2026:02:30:45 +0000`.
  std::string time_;
  std::string time_common_;
};

}  // namespace edge::runtime
