// Helpers for composing messages.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace edge::resource_api::objects {

/// Returns the concatenated parts.
std::string words(std::initializer_list<std::string_view> parts);

/// Returns the text in double quotes, escaped as by Go's %q for what occurs in names and paths.
std::string in_quotes(std::string_view text);

/// `<path>.<name>`, or the name alone below the root.
std::string below(std::string_view path, std::string_view name);
/// `<path>[<index>]`.
std::string below(std::string_view path, std::size_t index);
/// `<path>[<key>]`, for maps.
std::string below_key(std::string_view path, std::string_view key);

}  // namespace edge::resource_api::objects
