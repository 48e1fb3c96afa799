// Sets of texts as deterministic automata over bytes, built lazily: represent path values, header values and patterns
// in the search for a request (text_search.h).
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/analyze/space/effort.h"

namespace edge::compiler::analyze {

class Automaton {
 public:
  using State = std::uint32_t;
  /// The states from which nothing, and everything, is accepted.
  static constexpr State kDead = 0;
  static constexpr State kFull = 1;
  static constexpr State kFirstState = 2;

  /// Byte classes: bit b is set where byte b may be handled differently from byte b - 1.
  using Borders = std::bitset<256>;

  Automaton() = default;
  virtual ~Automaton() = default;
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;

  virtual State start(Effort& effort) = 0;
  /// Once `effort` is exhausted, the results of step and accepts are meaningless.
  virtual State step(State state, unsigned char byte, Effort& effort) = 0;
  /// Returns whether the text may end here.
  virtual bool accepts(State state, Effort& effort) = 0;
  virtual void add_borders(Borders& borders) const = 0;

  bool accepts_text(std::string_view text, Effort& effort);
};

/// Accepts `text` only.
std::unique_ptr<Automaton> equal_to(std::string text);
/// Accepts `prefix` and paths below it by whole segments; an empty one accepts every path.
std::unique_ptr<Automaton> below(std::string prefix);
/// Accepts every text that contains `part`.
std::unique_ptr<Automaton> containing(std::string part);
/// Accepts every text in which a pattern of compiler/expr is found. Null when it is invalid.
std::unique_ptr<Automaton> matching(std::string_view pattern);

/// Accept the values that requests can have. Paths: normalised ones (base/path.h), and `*`. Methods: tokens (RFC 9110
/// §5.6.2). Header fields: the values of one name, each without surrounding blanks (RFC 9110 §5.5), joined with ", ".
std::unique_ptr<Automaton> possible_paths();
std::unique_ptr<Automaton> possible_methods();
std::unique_ptr<Automaton> possible_fields();

}  // namespace edge::compiler::analyze
