// Parses JSON (RFC 8259) by events, so that untrusted text uses no more memory than its reader stores.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace edge {

/// \returns whether it was read completely: it is JSON, and `events` returned true for all events. Compiled once for
/// all readers: nlohmann/json would instantiate a parser for each.
bool parse_events(std::string_view text, nlohmann::json_sax<nlohmann::json>& events);

}  // namespace edge
