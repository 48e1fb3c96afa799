// Escapes text of clients for a line of a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace edge::runtime {

/// kJson: inside a JSON string (RFC 8259 §7); bytes that are no UTF-8 become U+FFFD. kPlain: in a line of text; quotes,
/// backslashes and what is no UTF-8 become `\xHH`.
enum class LogEscape : std::uint8_t { kJson, kPlain };

/// What a byte of the text takes at most.
inline constexpr std::size_t kMostEscaped = 6;

/// Writes to `at`, where there is room for kMostEscaped bytes a byte of the text. Control characters of C0 and C1, line
/// and paragraph separators, and marks that turn the direction of text are escaped in both.
/// \returns the end.
char* write_escaped(std::string_view text, LogEscape how, char* at);

}  // namespace edge::runtime
