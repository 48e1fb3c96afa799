// Checks an expression before it is passed to ANTLR: complete strings, limited nesting and length. ANTLR's parser
// recurses and overflows the stack on deep input, so that nothing unbounded may reach it.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/expr/text_fault.h"

namespace edge::compiler::expr {

/// Returns the first error, or nullopt when `text` may be parsed. Linear.
std::optional<TextFault> prescan(std::string_view text);

}  // namespace edge::compiler::expr
