// Requests as access logs tell of them: as much as a log holds of a request's head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/analyze/space/witness.h"

namespace edge::edgectl {

/// What a log leaves out.
struct LogDefaults {
  std::string host;        ///< of lines that name none; empty: such lines cannot be read
  std::uint16_t port = 0;  ///< that the requests came in on
};

/// One line: a JSON object (fields `method`, `host`, `path`, and `query`, `source_ip`, `port`, `user_agent`, `referer`
/// where they are; other programs' usual names for them are taken too), or Apache's common or combined format, with or
/// without the virtual host in front. nullopt for anything else, and for requests that would be answered 400.
std::optional<compiler::analyze::Witness> read_log_line(std::string_view line, const LogDefaults& defaults);

}  // namespace edge::edgectl
