// The language of path, header and query patterns: what RE2 and Hyperscan read alike, on bytes (docs/decisions/0002).
//
// A pattern is read to a tree and written again in a canonical form that leaves the engines nothing to read
// differently: no flags, no captures, classes spelled out, `$` as `\z`. Constructs outside the language are refused by
// name and position.
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
/// Places of a match with every counted repeat written out: what an automaton grows with.
inline constexpr std::uint64_t kMaxRegexPositions = 10'000;

struct RegexNode {
  enum class Kind : std::uint8_t {
    kEmpty,
    kBytes,            ///< `bytes`, one after the other
    kSet,              ///< one byte of `set`
    kBegin,            ///< `^`
    kEnd,              ///< `$`: the end of the subject alone
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
  /// Set exactly when `regex` is not: the first fault.
  std::optional<TextFault> fault;
};

/// Reads one pattern; any bytes are harmless. Thread-safe, linear in the pattern.
ParsedRegex parse_regex(std::string_view pattern);

/// The canonical form of a tree.
std::string to_pattern(const RegexNode& node);

/// The one subject that is matched: `^/a$` matches `/a` alone. nullopt when there may be others.
std::optional<std::string> only_match(const RegexNode& node);

/// Bytes that every match begins with when it must start at the subject's first byte; empty when none are certain.
std::string literal_prefix(const RegexNode& node);

}  // namespace edge::compiler::expr
