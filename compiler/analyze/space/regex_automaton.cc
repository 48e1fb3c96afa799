// A pattern as an automaton: its tree becomes instructions (Thompson's construction), and sets of instructions become
// states when they are first reached. Assertions look at the byte before and the byte after, so a state keeps its
// instructions as they stand before assertions are decided, and the next byte decides them.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "compiler/analyze/space/automaton.h"
#include "compiler/expr/regex_class.h"
#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::analyze {
namespace {

using Byte = unsigned char;
using expr::RegexNode;
using Kind = RegexNode::Kind;

struct Instruction {
  enum class Op : std::uint8_t { kByte, kFork, kBegin, kEnd, kWord, kNotWord, kFound };
  Op op;
  std::uint32_t next = 0;
  std::uint32_t other = 0;  ///< kFork: the second way; kByte: index of its set
};

/// Assembles the instructions from the end: each node gets the instruction that follows it.
class Assembler {
 public:
  explicit Assembler(const RegexNode& root) {
    const std::uint32_t found = add({Instruction::Op::kFound});
    start = node(root, found);
  }

  std::vector<Instruction> code;
  std::vector<std::bitset<256>> sets;
  std::uint32_t start = 0;
  bool words = false;  ///< some assertion looks for a word's border

 private:
  std::uint32_t add(Instruction instruction) {
    code.push_back(instruction);
    return static_cast<std::uint32_t>(code.size() - 1);
  }

  std::uint32_t set(const std::bitset<256>& bytes, std::uint32_t next) {
    sets.push_back(bytes);
    return add({Instruction::Op::kByte, next, static_cast<std::uint32_t>(sets.size() - 1)});
  }

  std::uint32_t node(const RegexNode& tree, std::uint32_t next) {
    switch (tree.kind) {
      case Kind::kEmpty:
        return next;
      case Kind::kBytes:
        for (auto c = tree.bytes.rbegin(); c != tree.bytes.rend(); ++c) {
          std::bitset<256> one;
          next = set(one.set(static_cast<Byte>(*c)), next);
        }
        return next;
      case Kind::kSet:
        return set(tree.set, next);
      case Kind::kBegin:
        return add({Instruction::Op::kBegin, next});
      case Kind::kEnd:
        return add({Instruction::Op::kEnd, next});
      case Kind::kWordBoundary:
      case Kind::kNotWordBoundary:
        words = true;
        return add({tree.kind == Kind::kWordBoundary ? Instruction::Op::kWord : Instruction::Op::kNotWord, next});
      case Kind::kConcat:
        for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) next = node(*child, next);
        return next;
      case Kind::kAlternate:
        return alternate(tree, next);
      case Kind::kRepeat:
        return repeat(tree, next);
    }
    return next;
  }

  std::uint32_t alternate(const RegexNode& tree, std::uint32_t next) {
    std::uint32_t ways = node(tree.children.back(), next);
    for (std::size_t i = tree.children.size() - 1; i-- > 0;) {
      ways = add({Instruction::Op::kFork, node(tree.children[i], next), ways});
    }
    return ways;
  }

  std::uint32_t repeat(const RegexNode& tree, std::uint32_t next) {
    const RegexNode& body = tree.children.front();
    if (tree.max == RegexNode::kUnbounded) {
      const std::uint32_t loop = add({Instruction::Op::kFork, 0, next});
      code[loop].next = node(body, loop);
      next = loop;
    } else {
      const std::uint32_t after = next;
      for (std::uint32_t i = tree.min; i < tree.max; ++i) next = add({Instruction::Op::kFork, node(body, next), after});
    }
    for (std::uint32_t i = 0; i < tree.min; ++i) next = node(body, next);
    return next;
  }
};

class RegexAutomaton : public Automaton {
 public:
  explicit RegexAutomaton(const expr::Regex& regex)
      : program_(regex.root), anchored_(regex.starts_at_begin), marks_(program_.code.size(), 0) {
    add_borders(borders_);
    Byte own = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (byte > 0 && borders_[byte]) ++own;
      class_of_[byte] = own;
    }
  }

  State start(Effort& effort) override { return keep({{}, Before::kBegin}, effort); }

  State step(State state, Byte byte, Effort& effort) override {
    if (state <= kFull) return state;
    State& known = states_[state - kFirstState].next[class_of_[byte]];
    if (known != kUnknown) return known;
    std::vector<std::uint32_t> reached;
    if (close(*states_[state - kFirstState].set, word(byte) ? After::kWord : After::kOther, reached, effort)) {
      return known = kFull;
    }
    Kernel kernel{{}, program_.words && word(byte) ? Before::kWord : Before::kOther};
    for (const std::uint32_t at : reached) {
      const Instruction& instruction = program_.code[at];
      if (program_.sets[instruction.other][byte]) kernel.waiting.push_back(instruction.next);
    }
    std::ranges::sort(kernel.waiting);
    kernel.waiting.erase(std::ranges::unique(kernel.waiting).begin(), kernel.waiting.end());
    if (kernel.waiting.empty() && anchored_) return known = kDead;
    const std::size_t at = state - kFirstState;
    const State next = keep(std::move(kernel), effort);
    if (!effort.exhausted()) states_[at].next[class_of_[byte]] = next;
    return next;
  }

  bool accepts(State state, Effort& effort) override {
    if (state <= kFull) return state == kFull;
    std::vector<std::uint32_t> reached;
    return close(*states_[state - kFirstState].set, After::kEnd, reached, effort);
  }

  void add_borders(Borders& borders) const override {
    for (const std::bitset<256>& set : program_.sets) {
      for (unsigned byte = 1; byte < 256; ++byte) {
        if (set[byte] != set[byte - 1]) borders.set(byte);
      }
    }
    if (!program_.words) return;
    for (unsigned byte = 1; byte < 256; ++byte) {
      if (word(static_cast<Byte>(byte)) != word(static_cast<Byte>(byte - 1))) borders.set(byte);
    }
  }

 private:
  enum class Before : std::uint8_t { kBegin, kWord, kOther };
  enum class After : std::uint8_t { kEnd, kWord, kOther };
  /// What makes a state: where ways that began earlier go on. A new way begins at every byte.
  struct Kernel {
    std::vector<std::uint32_t> waiting;  ///< sorted
    Before before;
    friend auto operator<=>(const Kernel&, const Kernel&) = default;
  };
  struct Known {
    const Kernel* set;
    std::vector<State> next;  ///< by class_of_
  };
  static constexpr State kUnknown = 0xffffffff;

  static bool word(Byte byte) { return expr::is_word(byte); }

  State keep(Kernel kernel, Effort& effort) {
    effort.spend(1 + kernel.waiting.size() + class_of_[255] / 8);
    const auto [known, fresh] = ids_.emplace(std::move(kernel), kFirstState + static_cast<State>(states_.size()));
    if (fresh) states_.push_back({&known->first, std::vector<State>(class_of_[255] + 1U, kUnknown)});
    return known->second;
  }

  /// Follows forks and the assertions that hold; the instructions that wait for a byte go to `reached`. \returns
  /// whether the pattern was found.
  bool close(const Kernel& kernel, After after, std::vector<std::uint32_t>& reached, Effort& effort) {
    const bool begin = kernel.before == Before::kBegin;
    const bool border = (kernel.before == Before::kWord) != (after == After::kWord);
    ++mark_;
    pending_ = kernel.waiting;
    pending_.push_back(program_.start);
    while (!pending_.empty()) {
      const std::uint32_t at = pending_.back();
      pending_.pop_back();
      if (std::exchange(marks_[at], mark_) == mark_) continue;
      if (!effort.spend(1)) return false;
      const Instruction& instruction = program_.code[at];
      switch (instruction.op) {
        case Instruction::Op::kFound:
          return true;
        case Instruction::Op::kByte:
          reached.push_back(at);
          continue;
        case Instruction::Op::kFork:
          pending_.push_back(instruction.other);
          break;
        case Instruction::Op::kBegin:
          if (!begin) continue;
          break;
        case Instruction::Op::kEnd:
          if (after != After::kEnd) continue;
          break;
        case Instruction::Op::kWord:
          if (!border) continue;
          break;
        case Instruction::Op::kNotWord:
          if (border) continue;
          break;
      }
      pending_.push_back(instruction.next);
    }
    return false;
  }

  Assembler program_;
  bool anchored_;
  Borders borders_;
  std::array<Byte, 256> class_of_{};
  std::map<Kernel, State> ids_;
  std::vector<Known> states_;
  std::vector<std::uint64_t> marks_;  ///< by instruction: the round that reached it last
  std::uint64_t mark_ = 0;
  std::vector<std::uint32_t> pending_;
};

}  // namespace

std::unique_ptr<Automaton> matching(std::string_view pattern) {
  const expr::ParsedRegex parsed = expr::parse_regex(pattern);
  if (!parsed.regex) return nullptr;
  return std::make_unique<RegexAutomaton>(*parsed.regex);
}

}  // namespace edge::compiler::analyze
