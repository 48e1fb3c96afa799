// One pattern in the portable engine: RE2, on bytes. The compiler holds Hyperscan against it, and an agent decides by
// it what has no database yet.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

namespace edge::program {

/// Immutable; searching is thread-safe.
class Pattern {
 public:
  /// Most memory that one pattern may take: what does not fit is refused.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  /// Costs tens of microseconds. `most_bytes`: of the compiled form and of the states that searching keeps.
  explicit Pattern(std::string_view text, std::size_t most_bytes = kMostBytes);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  bool ok() const;
  /// Why RE2 refuses it; empty when it does not.
  std::string fault() const;
  /// Linear in the subject. One that is not ok is found nowhere.
  bool found_in(std::string_view subject) const;

 private:
  std::unique_ptr<re2::RE2> regex_;
};

}  // namespace edge::program
