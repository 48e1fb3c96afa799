// The rules for field lines in HTTP/2 (RFC 9113 §8.2). nghttp2 checks much of this too; the code that writes HTTP/1.1
// text checks again, so that no field can change its meaning there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace edge::net::http2 {

/// Returns whether a name is a token without upper-case letters (§8.2.1). Not for pseudo-header fields.
bool valid_name(std::string_view name);
/// Returns whether a value has no control byte but HTAB: no CR, LF or NUL (§8.2.1).
bool valid_value(std::string_view value);
/// Returns whether a field is connection-specific (§8.2.2), which makes a message malformed. `te: trailers` is allowed.
bool connection_specific(std::string_view name, std::string_view value);
/// Returns whether a target can be written to a request line: visible ASCII, not empty.
bool valid_target(std::string_view path);
/// Returns whether the text may be a uri-host with its port. Not empty.
bool valid_authority(std::string_view authority);

/// Returns a field's size as counted by SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §6.5.2). Added for every field before
/// it is processed: HPACK expands one byte to kilobytes, whether the field is used or dropped.
inline std::size_t section_size(std::string_view name, std::string_view value) {
  return name.size() + value.size() + 32;
}
/// A section this many times over its limit is an attack.
inline constexpr std::size_t kBombFactor = 4;

/// Returns the value of `content-length`; nullopt: not a number, or one of more than 19 digits.
std::optional<std::uint64_t> length_of(std::string_view value);
/// Returns whether a trailer field may be forwarded. Fields that must be known before the body are dropped (RFC 9110
/// §6.5.1).
bool passes_as_trailer(std::string_view name);
/// Returns whether trailers are expected: they are announced (RFC 9110 §6.6.2), or it is a gRPC call. The HTTP/1.1 text
/// is then chunked, whatever length was announced.
bool announces_trailers(std::string_view name, std::string_view value);

}  // namespace edge::net::http2
