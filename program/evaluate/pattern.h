// Patterns in the portable engine: RE2, on bytes. The compiler compares Hyperscan with it, and agents use it for
// patterns without a database.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}  // namespace re2

namespace edge::program {

/// Memory of a pattern of a RequestFilter: one that needs more is refused.
inline constexpr std::size_t kFilterPatternBytes = std::size_t{1} << 20;

/// Immutable; searching is thread-safe.
class Pattern {
 public:
  /// Memory limit of one pattern: larger ones are rejected.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  /// Costs tens of microseconds. `most_bytes`: for the compiled form and the states cached by searches.
  explicit Pattern(std::string_view text, std::size_t most_bytes = kMostBytes);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  bool ok() const;
  /// Returns why RE2 rejects it; empty when it does not.
  std::string fault() const;
  /// Linear in the subject. A pattern that is not ok is never found.
  bool found_in(std::string_view subject) const;

 private:
  std::unique_ptr<re2::RE2> regex_;
};

/// Several patterns of a RequestFilter, of which any is looked for. Immutable; searching is thread-safe.
class PatternSet {
 public:
  /// From so many on all are searched for in one pass (decision 553): it costs the same however many there are, while
  /// RE2 finds the literal beginning of a single pattern faster than a byte at a time.
  static constexpr std::size_t kOnePassFrom = 8;
  /// Memory of the pass, the states cached by searches included. A set that needs more is searched one by one.
  static constexpr std::size_t kPassBytes = std::size_t{8} << 20;

  PatternSet();
  explicit PatternSet(std::span<const std::string_view> texts);
  PatternSet(PatternSet&&) noexcept;
  PatternSet& operator=(PatternSet&&) noexcept;
  ~PatternSet();

  bool empty() const { return patterns_.empty(); }
  /// Whether each can be searched for. Otherwise some are never found.
  bool ok() const;
  bool in_one_pass() const { return pass_ != nullptr; }
  /// Linear in the subject for each pattern.
  bool finds_any(std::string_view subject) const;

 private:
  class Pass;
  std::vector<Pattern> patterns_;
  std::unique_ptr<const Pass> pass_;  ///< null: one by one
};

}  // namespace edge::program
