// Text that a stranger wrote, in a line of a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edge::runtime {

/// kJson: inside a JSON string (RFC 8259 §7); bytes that are no UTF-8 become U+FFFD. kPlain: in a line of text; quotes,
/// backslashes and what is no UTF-8 become `\xHH`.
enum class LogEscape : std::uint8_t { kJson, kPlain };

/// Control characters of C0 and C1, line and paragraph separators, and marks that turn the direction of text are
/// escaped in both.
void append_escaped(std::string_view text, LogEscape how, std::string& out);

}  // namespace edge::runtime
