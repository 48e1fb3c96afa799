// One pattern in the portable engine: RE2, on bytes. The compiler compares Hyperscan with it, and agents use it for
// patterns without a database.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

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

}  // namespace edge::program
