// Host names of listeners and routes. Rule D2: an exact name, or `*.domain` for any number of labels, at least one, on
// a label boundary.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace edge {

/// A name or wildcard in canonical form: lower case, no trailing dot. `any()` (empty) means "every host".
class HostPattern {
 public:
  HostPattern() = default;

  /// Parses RFC 1123 names of at most 253 bytes, IP literals, and `*.` before a name. nullopt otherwise.
  static std::optional<HostPattern> parse(std::string_view text);

  bool any() const { return text_.empty(); }
  bool wildcard() const { return text_.starts_with("*."); }
  const std::string& text() const { return text_; }
  /// Returns the name without `*.`.
  std::string_view domain() const { return std::string_view(text_).substr(wildcard() ? 2 : 0); }

  /// `host` must be canonical (canonical_host).
  bool matches(std::string_view host) const;
  /// Returns the names that both patterns accept, which is one of the two; nullopt when they share none.
  static std::optional<HostPattern> intersect(const HostPattern& a, const HostPattern& b);
  /// Orders by specificity, the most specific first: exact, longer wildcard, shorter wildcard, any; then by text.
  static bool more_specific(const HostPattern& a, const HostPattern& b);

  friend bool operator==(const HostPattern&, const HostPattern&) = default;

 private:
  std::string text_;
};

/// Returns the canonical form of a request's Host or :authority: without the port and one trailing dot, lower case.
/// Writes at most 255 bytes to `buffer` and returns a view of it (or of `host` itself when nothing had to change).
/// nullopt when the text is not a valid authority (RFC 3986 §3.2.2; userinfo is rejected, RFC 9110 §4.2.4). Does not
/// allocate.
std::optional<std::string_view> canonical_host(std::string_view host, char (&buffer)[256]);

}  // namespace edge
