#include "edgectl/agents/prometheus.h"

#include <utility>

#include "edgectl/agents/web_client.h"

namespace edge::edgectl {
namespace {

std::string text_of(double number) { return std::to_string(number); }

}  // namespace

Prometheus::Prometheus(std::string url, std::chrono::milliseconds most) : url_(std::move(url)), most_(most) {
  if (url_.find("://") == std::string::npos) url_.insert(0, "http://");
  while (url_.ends_with('/')) url_.pop_back();
}

Result<std::vector<Series>> Prometheus::ask(const std::string& target) const {
  const auto answer = web_get(url_ + target, {.time = most_});
  if (!answer) return answer.error();
  auto series = read_prometheus(answer->body);
  if (series || series.error().code == ErrorCode::kInvalidArgument) return series;
  return Error{ErrorCode::kUnavailable,
               url_ + ": answered " + std::to_string(answer->status) + "; " + series.error().text};
}

Result<std::vector<Series>> Prometheus::query(const std::string& query) const {
  return ask("/api/v1/query?query=" + url_encoded(query));
}

Result<std::vector<Series>> Prometheus::range(const std::string& query, double seconds, double step) const {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return ask("/api/v1/query_range?query=" + url_encoded(query) + "&start=" + text_of(now - seconds) +
             "&end=" + text_of(now) + "&step=" + text_of(step));
}

}  // namespace edge::edgectl
