// Regular expressions of the reference matcher, by PCRE2: an engine that neither the compiler nor the runtime uses.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace edge::reference {

/// Searched anywhere in the subject; `$` is the very end; bytes, not UTF-8.
class Pattern {
 public:
  explicit Pattern(const std::string& pattern);
  bool valid() const { return code_ != nullptr; }
  /// Precondition: valid().
  bool found_in(std::string_view subject) const;

 private:
  std::shared_ptr<void> code_;
};

}  // namespace edge::reference
