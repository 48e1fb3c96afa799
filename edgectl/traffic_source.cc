#include "edgectl/traffic_source.h"

#include <utility>

#include "edgectl/shared_flags.h"

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

std::vector<cli::Flag> traffic_source_flags() {
  std::vector<cli::Flag> flags = prometheus_flags();
  flags.front().required = false;
  flags.front().help = "Prometheus server that scrapes the agents; default: the last hour, from the agents themselves";
  return joined(std::move(flags), agent_page_flags());
}

std::unique_ptr<TrafficSource> TrafficSource::open(std::string_view command, const cli::Arguments& arguments, int& exit,
                                                   std::chrono::milliseconds most) {
  auto source = std::make_unique<TrafficSource>();
  if (const std::string url = arguments.one("metrics-url"); !url.empty()) {
    source->server_ = std::make_unique<Prometheus>(url, most);
    return source;
  }
  source->pages_ = AgentPages::open(command, arguments, exit);
  if (source->pages_ == nullptr) return nullptr;
  source->agents_ = std::make_unique<AgentTraffic>(*source->pages_);
  return source;
}

Result<std::vector<MetricRow>> TrafficSource::rows(const MetricTable& table, const std::string& window) {
  faults_.clear();
  if (server_) {
    return metric_rows(table, window, [this](const std::string& query) { return server_->query(query); });
  }
  AgentTraffic::Hours hours = agents_->hours(window);
  faults_ = std::move(hours.faults);
  if (hours.agents.empty() && !faults_.empty()) return Error{ErrorCode::kUnavailable, faults_.front()};
  return hour_rows(table, hours.agents);
}

}  // namespace edge::edgectl
