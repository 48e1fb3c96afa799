// Searches for a text that is in some sets and outside of others.
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

/// Finds the shortest text that meets all goals; of equally short ones, letters are preferred. Breadth-first over the
/// product of the automata, so that "none" is a proof. kNotDecided when `effort` is exhausted or the text would be
/// longer than kMaxText. Deterministic.
TextFound search_text(const std::vector<TextGoal>& goals, Effort& effort, std::string& text);

inline constexpr std::size_t kMaxText = 8'000;

}  // namespace edge::compiler::analyze
