// An error in an expression or pattern, at byte offsets of its own text. The caller knows the resource and maps the
// offsets to the user's file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/diagnostics.h"

namespace edge::compiler::expr {

struct TextFault {
  DiagnosticCode code;
  std::uint32_t begin = 0;  ///< half-open range of the invalid bytes; empty at the end of the text
  std::uint32_t end = 0;
  std::string message;
  std::string fix;  ///< the suggested fix; may be empty
};

inline TextFault text_fault(DiagnosticCode code, std::size_t begin, std::size_t end, std::string message,
                            std::string fix = {}) {
  return {code, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), std::move(message), std::move(fix)};
}

}  // namespace edge::compiler::expr
