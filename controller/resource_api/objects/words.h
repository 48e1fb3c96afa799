// Messages put together from parts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace edge::resource_api::objects {

/// The parts as one text.
std::string words(std::initializer_list<std::string_view> parts);

/// In double quotes, escaped as Go's %q does for what occurs in names and paths.
std::string in_quotes(std::string_view text);

/// `<path>.<name>`, or the name alone below the root.
std::string below(std::string_view path, std::string_view name);
/// `<path>[<index>]`.
std::string below(std::string_view path, std::size_t index);
/// `<path>[<key>]`, of maps.
std::string below_key(std::string_view path, std::string_view key);

}  // namespace edge::resource_api::objects
