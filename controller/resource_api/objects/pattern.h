// The regular expression of a schema's field. A definition has dozens, most of which no value is ever held against, and
// a start compiles all definitions: each is compiled when it is first used.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace edge::resource_api::objects {

/// From any thread.
class Pattern {
 public:
  explicit Pattern(std::string text);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  const std::string& text() const { return text_; }
  /// Why it is no regular expression, or takes too much memory; empty: it can be used.
  std::string fault() const;
  /// Searches; false where the pattern cannot be used.
  bool is_in(std::string_view value) const;

 private:
  const re2::RE2& compiled() const;

  const std::string text_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const re2::RE2> compiled_;
};

}  // namespace edge::resource_api::objects
