#include "edgectl/agents/agent_traffic.h"

#include <utility>

namespace edge::edgectl {

AgentTraffic::Hours AgentTraffic::hours(const std::string& window) {
  Hours hours;
  const auto said = pages_.ask({.target = "/debug/traffic?window=" + window});
  if (!said) {
    hours.faults.push_back(said.error().text);
    return hours;
  }
  for (const AgentPages::Said& one : *said) {
    const auto body = AgentPages::body_of(one);
    const auto hour = body ? read_agent_hour(one.agent, *body) : body.error();
    if (hour) {
      hours.agents.push_back(*hour);
    } else {
      hours.faults.push_back(hour.error().text);
    }
  }
  return hours;
}

AgentTraffic::Line AgentTraffic::line(std::string_view range_and_more) {
  Line line;
  const auto said = pages_.ask({.target = "/debug/traffic/line?range=" + std::string(range_and_more)});
  if (!said) {
    line.faults.push_back(said.error().text);
    return line;
  }
  std::vector<std::vector<HourPoint>> agents;
  for (const AgentPages::Said& one : *said) {
    const auto body = AgentPages::body_of(one);
    auto points = body ? read_agent_line(one.agent, *body) : body.error();
    if (points) {
      agents.push_back(std::move(*points));
    } else {
      line.faults.push_back(points.error().text);
    }
  }
  line.points = sum_of(agents);
  return line;
}

}  // namespace edge::edgectl
