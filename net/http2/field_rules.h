// Which field lines HTTP/2 allows (RFC 9113 §8.2). nghttp2 asks much of this too; here it is what keeps a field from
// meaning something else once it stands as text of HTTP/1.1, so it is asked again, by the one who writes the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace edge::net::http2 {

/// A token without upper-case letters (§8.2.1). Pseudo-fields are none.
bool valid_name(std::string_view name);
/// No control byte but HTAB: no CR, LF or NUL (§8.2.1).
bool valid_value(std::string_view value);
/// Fields of a connection have no place in HTTP/2 (§8.2.2): a message with one is malformed. `te: trailers` is allowed.
bool connection_specific(std::string_view name, std::string_view value);
/// A target that stands between two blanks of a request line: visible ASCII alone, not empty.
bool valid_target(std::string_view path);
/// What a uri-host with its port may hold. Not empty.
bool valid_authority(std::string_view authority);

/// What a field comes to in its section, as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 §6.5.2). Counted of every
/// field, before anything else is done with it: HPACK makes kilobytes of one byte, whether the field is kept or
/// dropped.
inline std::size_t section_size(std::string_view name, std::string_view value) {
  return name.size() + value.size() + 32;
}
/// A peer that knows the limit of a section does not come near so many times of it.
inline constexpr std::size_t kBombFactor = 4;

/// What `content-length` says; nullopt: no number, or one of more than 19 digits.
std::optional<std::uint64_t> length_of(std::string_view value);
/// A field of a trailer section that may be passed on. What means something before the body has no place behind it
/// (RFC 9110 §6.5.1), and is dropped.
bool passes_as_trailer(std::string_view name);
/// Whether fields are to be expected behind the body: they are named (RFC 9110 §6.6.2), or it is a call of gRPC. Text
/// of HTTP/1.1 then has to have chunks, whatever length was announced.
bool announces_trailers(std::string_view name, std::string_view value);

}  // namespace edge::net::http2
