// Converts a path in a route to the form in which requests are matched.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge::compiler::link {

/// Escapes bytes that requests can only contain escaped (spaces, non-ASCII), then normalises the path like a request's.
/// nullopt when no request has such a path.
std::optional<std::string> path_value(std::string_view written);

/// The same for a prefix: without its trailing slash, except `/` itself. nullopt also for a prefix that ends in an
/// empty segment (`/a//`): without the slash it would cover more.
std::optional<std::string> prefix_value(std::string_view written);

}  // namespace edge::compiler::link
