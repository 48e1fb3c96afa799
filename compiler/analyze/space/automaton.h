// Sets of texts as deterministic automata over bytes, made state by state as they are walked: what path values, header
// values and patterns are to the search for a request (text_search.h).
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
  /// From here on nothing is accepted, and everything is.
  static constexpr State kDead = 0;
  static constexpr State kFull = 1;
  static constexpr State kFirstState = 2;

  /// Bytes that are told apart: bit b is set where byte b may be treated otherwise than byte b - 1.
  using Borders = std::bitset<256>;

  Automaton() = default;
  virtual ~Automaton() = default;
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;

  virtual State start(Effort& effort) = 0;
  /// Once `effort` is used up, the answers of step and accepts mean nothing.
  virtual State step(State state, unsigned char byte, Effort& effort) = 0;
  /// Whether the text may end here.
  virtual bool accepts(State state, Effort& effort) = 0;
  virtual void add_borders(Borders& borders) const = 0;

  bool accepts_text(std::string_view text, Effort& effort);
};

/// `text` alone.
std::unique_ptr<Automaton> equal_to(std::string text);
/// `prefix` and what lies below it by whole segments; an empty one is every path.
std::unique_ptr<Automaton> below(std::string prefix);
/// Every text with `part` in it.
std::unique_ptr<Automaton> containing(std::string part);
/// Every text in which a pattern of compiler/expr is found. Null when it cannot be read.
std::unique_ptr<Automaton> matching(std::string_view pattern);

/// What values a request can have. Paths: normal ones (base/path.h), and `*`. Methods: tokens (RFC 9110 §5.6.2). Header
/// fields: the values of one name, each without blanks around it (RFC 9110 §5.5), joined with ", ".
std::unique_ptr<Automaton> possible_paths();
std::unique_ptr<Automaton> possible_methods();
std::unique_ptr<Automaton> possible_fields();

}  // namespace edge::compiler::analyze
