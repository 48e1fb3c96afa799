// The normalised path of a request target for matching, logging and forwarding: one form for all spellings, so that no
// spelling bypasses a rule. Paths of requests and of routes are normalised by the same function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace edge {

/// Normalises a path (without query): percent-encoded unreserved characters are decoded (RFC 3986 §6.2.2.2), other
/// escapes get upper-case hex, dot segments are removed (§5.2.4), empty segments (`//`) stay. %2F, %5C stay encoded.
///
/// nullopt, answered 400, for: a path that does not begin with `/` or climbs above it; %00; an incomplete escape;
/// control bytes, spaces, bytes over 0x7e, `\`, `?` and `#` unescaped.
///
/// `buffer` has room for raw.size() + 1 bytes. The result is a view of it, or of `raw` when nothing had to change,
/// which costs one scan. Never longer than `raw`. Idempotent. Does not allocate.
std::optional<std::string_view> normalise_path(std::string_view raw, char* buffer);

/// How an encoded slash, %2F, is handled; and an encoded backslash, %5C, which some servers treat as one.
enum class EscapedSlashes : std::uint8_t {
  kKeep,
  kReject,
  kUnescape,  ///< `/` for %2F; a backslash is rejected here as everywhere
};

/// A gateway's changes of paths beyond normalising (`spec.paths`), so that they mean the same to servers that interpret
/// `//admin`, `/%2Fadmin` or `/x;y/admin` differently.
struct PathRules {
  bool merge_slashes = false;
  EscapedSlashes escaped_slashes = EscapedSlashes::kKeep;
  bool reject_parameters = false;  ///< `;` in a path, encoded or not (RFC 3986 §3.3)

  bool none() const { return !merge_slashes && escaped_slashes == EscapedSlashes::kKeep && !reject_parameters; }
  friend bool operator==(const PathRules&, const PathRules&) = default;
};

/// Applies `rules` to the result of normalise_path: first encoded slashes, then the resulting dot segments, then empty
/// segments. nullopt, answered 400, for rejected paths. `*` stays.
///
/// `buffer` has room for path.size() + 1 bytes; `path` may begin there, else the two do not overlap. The result is a
/// view of it, or of `path` when nothing had to change. Never longer than `path`. Idempotent. Does not allocate.
std::optional<std::string_view> apply_path_rules(const PathRules& rules, std::string_view path, char* buffer);

}  // namespace edge
