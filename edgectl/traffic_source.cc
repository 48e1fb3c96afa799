#include "edgectl/traffic_source.h"

#include <utility>

#include "edgectl/shared_flags.h"

namespace edge::edgectl {

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
