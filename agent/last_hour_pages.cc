#include "agent/last_hour_pages.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/resource_id.h"
#include "base/text/json.h"
#include "base/units.h"
#include "daemon/debug_pages.h"
#include "metrics/process.h"

namespace edge::agent {
namespace {

using daemon::AdminReply;
using metrics::LastHour;
using metrics::TrafficCounts;
using metrics::TrafficNames;
using runtime::BackendStatus;
using Json = nlohmann::ordered_json;

/// Rows of one answer; the rest is added up.
constexpr std::size_t kMostRows = 2000;
constexpr std::uint64_t kPoints = 60;

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// A duration of one second to an hour; `fallback` where the parameter is not there.
std::optional<std::chrono::nanoseconds> time_parameter(std::string_view query, std::string_view name,
                                                       std::chrono::nanoseconds fallback) {
  const auto text = daemon::parameter(query, name);
  if (!text) return fallback;
  const auto time = parse_duration(*text);
  if (!time || *time < std::chrono::seconds(1) || *time > LastHour::kKept) return std::nullopt;
  return *time;
}

Json counts_json(const TrafficCounts& counts) {
  return {{"requests", counts.by_class},
          {"durations", counts.durations},
          {"seconds", static_cast<double>(counts.nanoseconds) / 1e9},
          {"requestBytes", counts.request_bytes},
          {"responseBytes", counts.response_bytes}};
}

std::string_view circuit_text(runtime::Circuit::State state) {
  if (state == runtime::Circuit::State::kClosed) return "Closed";
  return state == runtime::Circuit::State::kOpen ? "Open" : "HalfOpen";
}

/// The rows with the most requests, and the rest of them as route `other`.
Json rows_json(const std::map<TrafficNames, TrafficCounts>& rows) {
  using Row = std::pair<const TrafficNames*, const TrafficCounts*>;
  std::vector<Row> order;
  order.reserve(rows.size());
  for (const auto& [names, counts] : rows) order.emplace_back(&names, &counts);
  TrafficCounts rest;
  if (order.size() > kMostRows) {
    const auto last = order.begin() + kMostRows;
    std::ranges::nth_element(order, last,
                             [](const Row& a, const Row& b) { return a.second->requests() > b.second->requests(); });
    for (auto row = last; row != order.end(); ++row) rest.add(*row->second);
    order.erase(last, order.end());
  }
  Json list = Json::array();
  const auto add = [&list](const TrafficNames& names, const TrafficCounts& counts) {
    Json row = {{"gateway", names.gateway}, {"route", names.route}, {"backend", names.backend}};
    row.update(counts_json(counts));
    list.push_back(std::move(row));
  };
  for (const auto& [names, counts] : order) add(*names, *counts);
  if (rest.requests() != 0) add({"", runtime::RequestTally::kOther, ""}, rest);
  return list;
}

Json backends_json(std::span<const BackendStatus> backends,
                   const std::map<std::string, metrics::BackendEvents>& events) {
  Json list = Json::array();
  for (const BackendStatus& backend : backends.first(std::min(backends.size(), kMostRows))) {
    const std::string name = resource_path(backend.name_space, backend.name);
    const auto found = events.find(name);
    const metrics::BackendEvents came = found == events.end() ? metrics::BackendEvents{} : found->second;
    list.push_back({{"name", name},
                    {"healthyEndpoints", std::ranges::count_if(backend.endpoints, &runtime::EndpointStatus::healthy)},
                    {"endpoints", backend.endpoints.size()},
                    {"circuit", circuit_text(backend.circuit)},
                    {"connections", backend.connections},
                    {"retries", came.retries},
                    {"ejections", came.ejections},
                    {"circuitOpened", came.circuit_opened},
                    {"connectFailures", came.connect_failures},
                    {"failedChecks", came.failed_checks}});
  }
  return list;
}

AdminReply json_reply(const Json& document) {
  return {.content_type = "application/json", .body = json_line(document) + "\n"};
}

}  // namespace

metrics::TrafficReading traffic_reading(const runtime::RequestSums& sums, std::span<const BackendStatus> backends,
                                        std::uint64_t connections) {
  metrics::TrafficReading reading{
      .rows = {}, .backends = {}, .connections = connections, .cpu_seconds = metrics::process_cpu_seconds()};
  for (const auto& [names, sum] : sums.rows) {
    reading.rows.emplace_hint(reading.rows.end(), TrafficNames{names.gateway, names.route, names.backend},
                              TrafficCounts{.by_class = sum.by_class,
                                            .durations = sum.durations,
                                            .nanoseconds = sum.nanoseconds,
                                            .request_bytes = sum.request_bytes,
                                            .response_bytes = sum.response_bytes});
  }
  for (const BackendStatus& backend : backends) {
    const metrics::BackendEvents events{backend.retries, backend.ejections, backend.circuit_opened,
                                        backend.connect_failures, backend.failed_checks};
    if (events.any()) reading.backends.emplace(resource_path(backend.name_space, backend.name), events);
  }
  return reading;
}

LastHourPages::LastHourPages(Read read) : read_(std::move(read)), hour_(read_(), Clock::now()) {}

void LastHourPages::record() {
  metrics::TrafficReading now = read_();
  const std::lock_guard lock(mutex_);
  hour_.record(std::move(now), Clock::now());
}

AdminReply LastHourPages::traffic(std::string_view query, std::span<const BackendStatus> backends,
                                  const std::string& program) const {
  const auto window = time_parameter(query, "window", std::chrono::minutes(5));
  if (!window) return daemon::text_reply(400, "window takes a duration from 1s to 1h\n");
  const metrics::TrafficReading now = read_();
  metrics::TrafficSpan span;
  std::chrono::nanoseconds age{};
  {
    const std::lock_guard lock(mutex_);
    const auto at = Clock::now();
    span = hour_.span(now, at, *window);
    age = at - hour_.since();
  }
  return json_reply({{"now", log_time(std::chrono::system_clock::now())},
                     {"age", seconds(age)},
                     {"covered", seconds(span.covered)},
                     {"bounds", metrics::kDurationBounds},
                     {"program", program},
                     {"connections", now.connections},
                     {"cpuSeconds", span.cpu_seconds},
                     {"residentBytes", metrics::process_resident_bytes()},
                     {"total", counts_json(span.total)},
                     {"rows", rows_json(span.rows)},
                     {"backends", backends_json(backends, span.backends)}});
}

AdminReply LastHourPages::line(std::string_view query) const {
  const auto range = time_parameter(query, "range", std::chrono::minutes(30));
  const auto points = daemon::number_parameter(query, "points", kPoints, LastHour::kMostPoints);
  if (!range || !points || *points == 0) {
    return daemon::text_reply(400, "takes range from 1s to 1h, points up to 720, gateway, route, backend\n");
  }
  const auto name = [query](std::string_view of) { return daemon::parameter(query, of).value_or(""); };
  const LastHour::Line line{.range = *range,
                            .points = static_cast<std::size_t>(*points),
                            .names = {name("gateway"), name("route"), name("backend")}};
  const metrics::TrafficReading now = read_();
  std::vector<metrics::TrafficPoint> found;
  {
    const std::lock_guard lock(mutex_);
    found = hour_.line(line, now, Clock::now());
  }
  Json list = Json::array();
  for (const metrics::TrafficPoint& point : found) {
    Json json = {{"ago", seconds(point.ago)}, {"covered", seconds(point.covered)}};
    if (point.covered > std::chrono::nanoseconds(0)) {
      json.update(counts_json(point.counts));
      json["connections"] = point.connections;
    }
    list.push_back(std::move(json));
  }
  return json_reply({{"now", log_time(std::chrono::system_clock::now())},
                     {"step", seconds(*range) / static_cast<double>(*points)},
                     {"bounds", metrics::kDurationBounds},
                     {"points", std::move(list)}});
}

std::string troubles_document(const HealthLog::Troubles& troubles) {
  Json list = Json::array();
  for (const Trouble& one : troubles.listed) {
    list.push_back({{"subject", one.subject}, {"text", one.text}, {"since", log_time(one.since)}});
  }
  const Json document = {{"troubles", std::move(list)}, {"more", troubles.more}};
  return json_line(document) + "\n";
}

}  // namespace edge::agent
