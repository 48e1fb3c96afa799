// Looks for a text that lies in some sets and outside of others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/analyze/space/automaton.h"

namespace edge::compiler::analyze {

struct TextGoal {
  Automaton* set;
  bool inside;
};

enum class TextFound { kText, kNone, kNotDecided };

/// The shortest text that reaches all goals; of equally short ones, letters come before other bytes. Breadth first over
/// the product of the automata, so that "none" is a proof. kNotDecided when `effort` ends or the text would be longer
/// than kMaxText. The same goals give the same text.
TextFound search_text(const std::vector<TextGoal>& goals, Effort& effort, std::string& text);

inline constexpr std::size_t kMaxText = 8'000;

}  // namespace edge::compiler::analyze
