// Automata built by hand: for plain texts and for the values that a request can have. Those of patterns:
// regex_automaton.cc.
#include "compiler/analyze/space/automaton.h"

#include <string>
#include <utility>
#include <vector>

namespace edge::compiler::analyze {
namespace {

using Byte = unsigned char;

void add_byte(Automaton::Borders& borders, Byte byte) {
  borders.set(byte);
  if (byte < 0xff) borders.set(byte + 1U);
}

void add_range(Automaton::Borders& borders, Byte first, Byte last) {
  borders.set(first);
  if (last < 0xff) borders.set(last + 1U);
}

/// An automaton with few states, all known in advance; subclasses supply the transition table.
class FixedAutomaton : public Automaton {
 public:
  State start(Effort&) override { return kFirstState; }
  State step(State state, Byte byte, Effort& effort) override {
    effort.spend(1);
    return state <= kFull ? state : next(state - kFirstState, byte);
  }
  bool accepts(State state, Effort&) override {
    return state == kFull || (state != kDead && ends(state - kFirstState));
  }

 private:
  virtual State next(State state, Byte byte) const = 0;
  virtual bool ends(State state) const = 0;
};

/// A state is the number of bytes of the text that were read.
class TextAutomaton : public FixedAutomaton {
 public:
  TextAutomaton(std::string text, bool whole_segments) : text_(std::move(text)), whole_segments_(whole_segments) {}

  void add_borders(Borders& borders) const override {
    for (const char c : text_) add_byte(borders, static_cast<Byte>(c));
    if (whole_segments_) add_byte(borders, '/');
  }

 private:
  State next(State read, Byte byte) const override {
    if (read == text_.size()) return whole_segments_ && byte == '/' ? kFull : kDead;
    return static_cast<Byte>(text_[read]) == byte ? kFirstState + read + 1 : kDead;
  }
  bool ends(State read) const override { return read == text_.size(); }

  std::string text_;
  bool whole_segments_;
};

/// Knuth-Morris-Pratt: a state is the number of bytes of `part` that the text ends with.
class PartAutomaton : public FixedAutomaton {
 public:
  explicit PartAutomaton(std::string part) : part_(std::move(part)), fallback_(part_.size() + 1, 0) {
    for (std::size_t i = 1; i < part_.size(); ++i)
      fallback_[i + 1] = advance(fallback_[i], static_cast<Byte>(part_[i]));
  }

  State start(Effort&) override { return part_.empty() ? kFull : kFirstState; }
  void add_borders(Borders& borders) const override {
    for (const char c : part_) add_byte(borders, static_cast<Byte>(c));
  }

 private:
  State advance(State have, Byte byte) const {
    while (have > 0 && static_cast<Byte>(part_[have]) != byte) have = fallback_[have];
    return static_cast<Byte>(part_[have]) == byte ? have + 1 : have;
  }
  State next(State have, Byte byte) const override {
    const State now = advance(have, byte);
    return now == part_.size() ? kFull : kFirstState + now;
  }
  bool ends(State) const override { return false; }

  std::string part_;
  std::vector<State> fallback_;  ///< by bytes had: the longest shorter start of `part_` that they end with
};

bool is_digit(Byte c) { return c >= '0' && c <= '9'; }
bool is_alpha(Byte c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Accepts the paths that normalise_path (base/path.h) leaves unchanged, and `*`.
class PathAutomaton : public FixedAutomaton {
 public:
  void add_borders(Borders& borders) const override {
    for (const char c : std::string_view("/*.%\\?#-_~")) add_byte(borders, static_cast<Byte>(c));
    add_range(borders, 0x21, 0x7e);
    // Both digits of an escape decide what it stands for.
    for (Byte c = '0'; c <= '9'; ++c) add_byte(borders, c);
    for (Byte c = 'A'; c <= 'F'; ++c) add_byte(borders, c);
  }

 private:
  enum : State { kStart, kStar, kSegment, kDot, kTwoDots, kInside, kEscape, kHigh /* + first digit */ };

  static int hex(Byte c) { return is_digit(c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }
  static bool unreserved(int c) {
    const auto byte = static_cast<Byte>(c);
    return is_digit(byte) || is_alpha(byte) || byte == '-' || byte == '.' || byte == '_' || byte == '~';
  }
  static State at(State state) { return kFirstState + state; }

  State next(State state, Byte c) const override {
    if (state >= kHigh) {
      const int decoded = static_cast<int>(state - kHigh) * 16 + hex(c);
      return hex(c) < 0 || decoded == 0 || unreserved(decoded) ? kDead : at(kInside);
    }
    if (state == kStart) return c == '/' ? at(kSegment) : c == '*' ? at(kStar) : kDead;
    if (state == kStar) return kDead;
    if (state == kEscape) return hex(c) < 0 ? kDead : at(kHigh + static_cast<State>(hex(c)));
    if (c <= 0x20 || c >= 0x7f || c == '\\' || c == '?' || c == '#') return kDead;
    if (c == '/') return state == kDot || state == kTwoDots ? kDead : at(kSegment);
    if (c == '%') return at(kEscape);
    if (c == '.' && state == kSegment) return at(kDot);
    if (c == '.' && state == kDot) return at(kTwoDots);
    return at(kInside);
  }
  bool ends(State state) const override { return state == kStar || state == kSegment || state == kInside; }
};

class MethodAutomaton : public FixedAutomaton {
 public:
  void add_borders(Borders& borders) const override {
    for (const char c : kMarks) add_byte(borders, static_cast<Byte>(c));
    add_range(borders, '0', '9');
    add_range(borders, 'A', 'Z');
    add_range(borders, 'a', 'z');
  }

 private:
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  State next(State, Byte c) const override {
    const bool token = is_digit(c) || is_alpha(c) || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
    return token ? kFirstState + 1 : kDead;
  }
  bool ends(State state) const override { return state == 1; }
};

/// Accepts values without surrounding blanks, joined with ", ". A value may be empty, so the text may end in ", ".
class FieldAutomaton : public FixedAutomaton {
 public:
  void add_borders(Borders& borders) const override {
    for (const char c : std::string_view("\t ,\x7f")) add_byte(borders, static_cast<Byte>(c));
  }

 private:
  enum : State {
    kStart,
    kVisible,     ///< ends in a visible byte
    kComma,       ///< ends in a comma, before which a value may end
    kJoint,       ///< ends in ", " after such a comma
    kBlank,       ///< ends in a blank inside of a value
    kInnerComma,  ///< ends in a comma after such a blank
  };

  static State at(State state) { return kFirstState + state; }
  State next(State state, Byte c) const override {
    if ((c < 0x20 && c != '\t') || c == 0x7f) return kDead;
    const bool blank = c == ' ' || c == '\t';
    if (blank && state == kStart) return kDead;
    if (blank) return at(c == ' ' && state == kComma ? kJoint : kBlank);
    if (c != ',') return at(kVisible);
    return at(state == kBlank ? kInnerComma : kComma);
  }
  bool ends(State state) const override { return state != kBlank; }
};

}  // namespace

bool Automaton::accepts_text(std::string_view text, Effort& effort) {
  State state = start(effort);
  for (const char c : text) {
    if (state <= kFull || effort.exhausted()) break;
    state = step(state, static_cast<Byte>(c), effort);
  }
  return accepts(state, effort);
}

std::unique_ptr<Automaton> equal_to(std::string text) {
  return std::make_unique<TextAutomaton>(std::move(text), false);
}
std::unique_ptr<Automaton> below(std::string prefix) {
  return std::make_unique<TextAutomaton>(std::move(prefix), true);
}
std::unique_ptr<Automaton> containing(std::string part) { return std::make_unique<PartAutomaton>(std::move(part)); }
std::unique_ptr<Automaton> possible_paths() { return std::make_unique<PathAutomaton>(); }
std::unique_ptr<Automaton> possible_methods() { return std::make_unique<MethodAutomaton>(); }
std::unique_ptr<Automaton> possible_fields() { return std::make_unique<FieldAutomaton>(); }

}  // namespace edge::compiler::analyze
