// Byte classes and escapes of the pattern language (regex_syntax.h).
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/expr/text_fault.h"

namespace edge::compiler::expr {

using ByteSet = std::bitset<256>;

bool is_letter(unsigned char byte);  ///< ASCII
bool is_word(unsigned char byte);    ///< `\w`: ASCII letters, digits, `_`

struct ClassResult {
  ByteSet set;
  std::size_t end = 0;  ///< after the `]`
  std::optional<TextFault> fault;
};
/// Parses `[…]`; `at` is the position of the `[`.
ClassResult read_class(std::string_view text, std::size_t at, bool ignore_case);

struct EscapeResult {
  std::optional<ByteSet> set;  ///< `\d` and similar; otherwise one byte
  std::uint8_t byte = 0;
  std::size_t end = 0;
  std::optional<TextFault> fault;
};
/// Parses an escape of one byte, inside and outside of classes; `at` is the position of the backslash.
EscapeResult read_escape(std::string_view text, std::size_t at);

/// Returns `[a-z]` and so on, `.` for everything but a newline: a form that RE2 and Hyperscan read alike.
std::string class_text(const ByteSet& set);
/// Returns one byte as a literal outside of classes.
std::string byte_text(unsigned char byte);

}  // namespace edge::compiler::expr
