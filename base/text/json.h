// JSON (RFC 8259) as trees, of which nothing is known: what is missing, or of another type than is asked for, reads as
// if it were not there, and no text makes a reader or a writer throw. What is large, or whose members are known, is
// read event by event instead (json_sax.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace edge {

/// Trees are written by recursion.
inline constexpr std::size_t kMaxJsonDepth = 128;

/// Discarded (`is_discarded()`) when the text is not JSON or nests deeper than kMaxJsonDepth.
nlohmann::json parse_json(std::string_view text);
/// The same, its members in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// The member of that name; a null value when there is none, or `object` is no object. This and what follows is valid
/// as long as `object`.
const nlohmann::json& member_in(const nlohmann::json& object, std::string_view name);
/// The member, if it is a list; otherwise an empty one.
const nlohmann::json& list_in(const nlohmann::json& object, std::string_view name);
/// The member, if it is text; otherwise empty.
const std::string& text_in(const nlohmann::json& object, std::string_view name);
/// The text that `value` is; empty when it is none.
const std::string& text_value(const nlohmann::json& value);
/// The member, if it is a whole number; otherwise 0. What is beyond an std::int64_t is any number.
std::int64_t integer_in(const nlohmann::json& object, std::string_view name);

/// On one line, without an end of line. What is no UTF-8 is replaced: texts come from anybody.
std::string json_line(const nlohmann::json& value);
std::string json_line(const nlohmann::ordered_json& value);
/// For people, and files that they may look at: each member on a line of its own, an end of line at the end.
std::string indented_json(const nlohmann::json& value, int indent = 2);
std::string indented_json(const nlohmann::ordered_json& value, int indent = 2);

}  // namespace edge
