// A path as a person writes it in a route, brought to the form in which requests are matched.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge::compiler::link {

/// Bytes that a request can carry only escaped (spaces, what is not ASCII) are escaped, then the path is normalised as
/// a request's is. nullopt when no request has such a path.
std::optional<std::string> path_value(std::string_view written);

/// The same for a prefix: without its trailing slash, save `/` itself. nullopt also for a prefix that ends in an empty
/// segment (`/a//`): without the slash it would cover more than it says.
std::optional<std::string> prefix_value(std::string_view written);

}  // namespace edge::compiler::link
