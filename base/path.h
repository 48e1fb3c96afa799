// The path of a request target as it is matched, logged and forwarded: one form for every spelling of a path, so that
// no spelling slips past a rule. Requests and the path values of routes go through the same function.
#pragma once

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

}  // namespace edge
