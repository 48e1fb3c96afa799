// JSON (RFC 8259) read event by event, so that a hostile text costs no more memory than what its reader keeps.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace edge {

/// \returns whether it was read to its end: it is JSON, and `events` returned true to each. Compiled once for all
/// readers: nlohmann/json would make a parser of its own for each.
bool parse_events(std::string_view text, nlohmann::json_sax<nlohmann::json>& events);

}  // namespace edge
