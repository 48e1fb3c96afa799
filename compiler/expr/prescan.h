// The look at an expression before ANTLR sees it: strings are whole, nesting and length are bounded. ANTLR's parser
// recurses and its stack overflows on deep input, so nothing unbounded may reach it.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/expr/text_fault.h"

namespace edge::compiler::expr {

/// The first fault, or nullopt when `text` may go to the parser. Linear.
std::optional<TextFault> prescan(std::string_view text);

}  // namespace edge::compiler::expr
