// Parses the format of an access log in a gateway's settings to pieces that are written one after another. Used by the
// compiler to report errors, and by the runtime for writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace edge::program {

/// The fields of an access log line, in the order of JSON lines. kText is literal text of a template.
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

/// Returns the name in templates and JSON lines; empty for kText.
std::string_view log_field_name(LogField field);
/// Returns the names allowed in templates.
std::vector<std::string_view> log_field_names();
/// Returns whether JSON lines have the field. The others are alternative forms of such fields.
bool in_json(LogField field);

struct LogPiece {
  LogField field = LogField::kText;
  /// For kText.
  std::string_view text{};
};

struct LogFormatFault {
  enum class Kind : std::uint8_t {
    kUnknownWord,   ///< neither a template nor a known word
    kUnknownField,  ///< `%{...}` with another name
    kOpen,          ///< `%{` without an end
    kLonePercent,   ///< a percent sign before anything but `{` and `%`
    kControlByte,   ///< a line break, or a control character
    kTooLong,
  };
  Kind kind;
  /// The invalid bytes.
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct LogFormatReading {
  /// A line is a JSON object of all fields; there are no pieces.
  bool json = false;
  /// Views of the parsed text, or of static text.
  std::vector<LogPiece> pieces{};
  std::optional<LogFormatFault> fault{};
};

inline constexpr std::size_t kMaxLogFormat = 2048;

/// Parses `json`, `common`, `combined`, or a template: text with `%{field}`, and `%%` for a percent sign.
LogFormatReading read_log_format(std::string_view text);

}  // namespace edge::program
