// Parses requests from access logs: as much of a request's head as a log contains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/analyze/space/witness.h"

namespace edge::edgectl {

/// Values that a log does not contain.
struct LogDefaults {
  std::string host;        ///< of lines without a host; empty: such lines are unreadable
  std::uint16_t port = 0;  ///< the port of the requests
};

/// Parses one line: a JSON object (fields `method`, `host`, `path`, and optionally `query`, `source_ip`, `port`,
/// `user_agent`, `referer`; common alternative names are accepted too), or Apache's common or combined format, with or
/// without the virtual host in front. nullopt for anything else, and for requests that would be answered 400.
std::optional<compiler::analyze::Witness> read_log_line(std::string_view line, const LogDefaults& defaults);

}  // namespace edge::edgectl
