// Escapes text from clients for log lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge::runtime {

/// kJson: inside a JSON string (RFC 8259 §7); invalid UTF-8 becomes U+FFFD. kPlain: in a line of text; quotes,
/// backslashes and invalid UTF-8 become `\xHH`.
enum class LogEscape : std::uint8_t { kJson, kPlain };

/// The most bytes that one byte of the text becomes.
inline constexpr std::size_t kMostEscaped = 6;

/// Writes the escaped text to `at`, where there is room for kMostEscaped bytes per byte of the text. Both ways escape
/// control characters of C0 and C1, line and paragraph separators, and bidirectional formatting characters.
/// \returns the end.
char* write_escaped(std::string_view text, LogEscape how, char* at);

}  // namespace edge::runtime
