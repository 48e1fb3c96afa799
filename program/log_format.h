// The format of an access log, from its text in a gateway's settings to pieces that are written one after another. The
// compiler reads it to tell what is wrong with it, the runtime to write by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace edge::program {

/// What a line can tell of an exchange, in the order of the lines in JSON. kText is a template's own text.
enum class LogField : std::uint8_t {
  kText,
#define EDGE_LOG_FIELD(id, name, in_json) id,
#include "program/log_fields.def"
#undef EDGE_LOG_FIELD
};

inline constexpr std::size_t kLogFields = 1
#define EDGE_LOG_FIELD(id, name, in_json) +1
#include "program/log_fields.def"
#undef EDGE_LOG_FIELD
    ;

/// As templates name it, and lines in JSON; empty for kText.
std::string_view log_field_name(LogField field);
/// The names that a template may use.
std::vector<std::string_view> log_field_names();
/// Whether lines in JSON have it. The others are other forms of what they have.
bool in_json(LogField field);

struct LogPiece {
  LogField field = LogField::kText;
  /// Of kText.
  std::string_view text{};
};

struct LogFormatFault {
  enum class Kind : std::uint8_t {
    kUnknownWord,   ///< no template, and none of the words
    kUnknownField,  ///< `%{...}` with another name
    kOpen,          ///< `%{` without an end
    kLonePercent,   ///< a percent sign before anything but `{` and `%`
    kControlByte,   ///< a line that is more than one, or drives a terminal
    kTooLong,
  };
  Kind kind;
  /// The bytes at fault.
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct LogFormatReading {
  /// A line is a JSON object of all fields; there are no pieces.
  bool json = false;
  /// Views of the text that was read, or of static text.
  std::vector<LogPiece> pieces{};
  std::optional<LogFormatFault> fault{};
};

inline constexpr std::size_t kMaxLogFormat = 2048;

/// Reads `json`, `common`, `combined`, or a template: text with `%{field}`, and `%%` for a percent sign.
LogFormatReading read_log_format(std::string_view text);

}  // namespace edge::program
