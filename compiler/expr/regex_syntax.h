// The pattern language for paths, headers and query keys: the common subset of RE2 and Hyperscan, on bytes
// (docs/decisions/0002).
//
// A pattern is parsed to a tree and written again in a canonical form that all engines read in the same way: no flags,
// no captures, expanded classes, `$` as `\z`. Constructs outside the language are rejected by name and position.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/expr/text_fault.h"

namespace edge::compiler::expr {

inline constexpr std::size_t kMaxRegexBytes = 4 * 1024;
inline constexpr std::size_t kMaxRegexNesting = 64;
inline constexpr std::uint32_t kMaxRegexRepeat = 1'000;
/// Positions of a match with every counted repeat expanded, which determines the size of automata.
inline constexpr std::uint64_t kMaxRegexPositions = 10'000;

struct RegexNode {
  enum class Kind : std::uint8_t {
    kEmpty,
    kBytes,            ///< `bytes`, one after the other
    kSet,              ///< one byte of `set`
    kBegin,            ///< `^`
    kEnd,              ///< `$`: only the end of the subject
    kWordBoundary,     ///< `\b`
    kNotWordBoundary,  ///< `\B`
    kConcat,
    kAlternate,
    kRepeat,  ///< children[0], `min` to `max` times
  };
  static constexpr std::uint32_t kUnbounded = 0xffffffff;

  Kind kind = Kind::kEmpty;
  std::string bytes;
  std::bitset<256> set;
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::vector<RegexNode> children;
};

struct Regex {
  RegexNode root;
  std::string pattern;           ///< canonical form, what the engines compile
  bool starts_at_begin = false;  ///< every match starts at the subject's first byte
  bool always = false;           ///< found in every subject
};

struct ParsedRegex {
  std::optional<Regex> regex;
  /// Set exactly when `regex` is not: the first error.
  std::optional<TextFault> fault;
};

/// Parses one pattern; any input is safe. Thread-safe, linear in the pattern.
ParsedRegex parse_regex(std::string_view pattern);

/// Returns the canonical form of a tree.
std::string to_pattern(const RegexNode& node);

}  // namespace edge::compiler::expr
