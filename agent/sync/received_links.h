// The SD-WAN's assignment as the agent's site takes it, and its report.
#pragma once

#include <string>

#include "agent/wan/site/site.h"
#include "base/result.h"

namespace edge::agent {

namespace v1 {
class LinksReport;
}

/// Parses `message`, a LinksDown. Omits what is invalid. kInvalidArgument: not such a message; kResourceExhausted:
/// there is more than an agent takes.
Result<wan::SiteAssignment> read_links(const std::string& message);
/// Into an empty message.
void write_links_report(const wan::SiteState& state, v1::LinksReport& into);

}  // namespace edge::agent
