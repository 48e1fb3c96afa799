// JSON (RFC 8259) as trees with unknown contents: missing members and other types than requested read as absent, and no
// text makes a reader or a writer throw. Large documents, or those with known members, are read by events instead
// (json_sax.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace edge {

/// Trees are written recursively.
inline constexpr std::size_t kMaxJsonDepth = 128;

/// Discarded (`is_discarded()`) when the text is not JSON or is nested deeper than kMaxJsonDepth.
nlohmann::json parse_json(std::string_view text);
/// The same, with members in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// Returns the member of that name; a null value when there is none, or `object` is not an object. Valid as long as
/// `object`, like the functions below.
const nlohmann::json& member_in(const nlohmann::json& object, std::string_view name);
/// Returns the member, if it is a list; otherwise an empty one.
const nlohmann::json& list_in(const nlohmann::json& object, std::string_view name);
/// Returns the member, if it is text; otherwise empty.
const std::string& text_in(const nlohmann::json& object, std::string_view name);
/// Returns `value`, if it is text; otherwise empty.
const std::string& text_value(const nlohmann::json& value);
/// Returns the member, if it is an integer; otherwise 0. Undefined beyond std::int64_t.
std::int64_t integer_in(const nlohmann::json& object, std::string_view name);

/// Returns one line, without a newline. Invalid UTF-8 is replaced, since texts are untrusted.
std::string json_line(const nlohmann::json& value);
std::string json_line(const nlohmann::ordered_json& value);
/// For users, and files that they may read: each member on its own line, with a final newline.
std::string indented_json(const nlohmann::json& value, int indent = 2);
std::string indented_json(const nlohmann::ordered_json& value, int indent = 2);

}  // namespace edge
