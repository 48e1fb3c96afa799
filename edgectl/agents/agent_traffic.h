// The traffic of several agents, from the hour that each keeps (docs/last-hour.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edgectl/agents/agent_pages.h"
#include "edgectl/observe/agent_hour.h"

namespace edge::edgectl {

/// The last hour's statistics of AgentPages' agents. Agents that do not answer are omitted, and reported.
class AgentTraffic {
 public:
  explicit AgentTraffic(AgentPages& pages) : pages_(pages) {}

  struct Hours {
    std::vector<AgentHour> agents;
    std::vector<std::string> faults;  ///< a line per agent that did not answer
  };
  /// `window`: as on the command line, 1s to 1h.
  Hours hours(const std::string& window);
  struct Line {
    std::vector<HourPoint> points;  ///< of all agents; empty: none answered
    std::vector<std::string> faults;
  };
  Line line(std::string_view range_and_more);

 private:
  AgentPages& pages_;
};

}  // namespace edge::edgectl
