#include "edgectl/web/api/views/fleet.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/agents/agent_traffic.h"
#include "edgectl/resources/agents.h"
#include "edgectl/web/api/views/progress_json.h"

namespace edge::edgectl::web {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What the rates by route are of: three steps of the agents' memory.
constexpr const char* kWindow = "15s";
constexpr const char* kLine = "5m&points=60";
constexpr std::size_t kMostRows = 500;
constexpr std::size_t kMostAskedForEndpoints = 8;
constexpr std::size_t kMostEndpoints = 8'000;

std::string one_line(const std::string& json) { return json_line(parse_ordered_json(json)); }

/// NaN has no form in JSON.
OrderedJson number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

OrderedJson point_json(const HourPoint& point) {
  if (point.covered <= 0) return nullptr;
  return {{"requests", point.counts.requests()},
          {"clientErrors", point.counts.client_errors()},
          {"errors", point.counts.errors()},
          {"p50", number(point.counts.quantile(0.5))},
          {"p99", number(point.counts.quantile(0.99))},
          {"connections", point.connections}};
}

OrderedJson rows_json(const MetricTable& table, const std::vector<AgentHour>& agents) {
  std::vector<MetricRow> rows = hour_rows(table, agents);
  keep_top(rows, 0, kMostRows);
  return parse_ordered_json(metric_json(table, rows));
}

struct EndpointHealth {
  std::size_t agents = 0, healthy = 0;
  std::string last_error;
};
/// By `namespace/name` of the backend and address.
using EndpointTable = std::map<std::pair<std::string, std::string>, EndpointHealth>;

/// \returns how many were left out.
std::size_t add_endpoints(const controller::AgentState& agent, EndpointTable& table) {
  std::size_t left_out = 0;
  for (const auto& backend : agent.backends) {
    for (const auto& endpoint : backend.endpoints) {
      std::pair<std::string, std::string> key(backend.name_space + "/" + backend.name, endpoint.address);
      if (table.size() >= kMostEndpoints && !table.contains(key)) {
        ++left_out;
        continue;
      }
      EndpointHealth& health = table[std::move(key)];
      ++health.agents;
      health.healthy += endpoint.healthy ? 1U : 0U;
      if (!endpoint.healthy) health.last_error = endpoint.last_error;
    }
  }
  return left_out;
}

}  // namespace

Result<controller::InspectClient*> Fleet::controller() {
  if (controller_ == nullptr) {
    auto opened = find_controller(arguments_);
    if (!opened) return opened.error();
    controller_ = std::move(*opened);
  }
  return controller_.get();
}

Error Fleet::forgotten(Error error) {
  if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalidArgument) {
    controller_.reset();
    pages_.reset();
  }
  return error;
}

Result<std::string> Fleet::agents() {
  const auto client = controller();
  if (!client) return client.error();
  const auto agents = (*client)->agents();
  if (!agents) return forgotten(agents.error());
  OrderedJson json = parse_ordered_json(agents_json(*agents));
  // The list has neither backends nor addresses; this tells that an agent has something new to say of them.
  for (std::size_t i = 0; i < agents->agents.size() && i < json["agents"].size(); ++i) {
    const auto reported = agents->agents[i].last_seen.time_since_epoch();
    json["agents"][i]["reported"] = std::chrono::duration_cast<std::chrono::milliseconds>(reported).count();
  }
  return json_line(json);
}

Result<std::string> Fleet::agent(const std::string& name) {
  const auto client = controller();
  if (!client) return client.error();
  const auto agent = (*client)->agent(name);
  if (!agent) return forgotten(agent.error());
  return one_line(agent_json(*agent));
}

Result<std::string> Fleet::history(const std::string& group) {
  const auto client = controller();
  if (!client) return client.error();
  const auto history = (*client)->history(group.empty() ? std::string(controller::kDefaultGroup) : group);
  if (!history) return forgotten(history.error());
  return one_line(history_json(*history));
}

Result<std::string> Fleet::endpoints() {
  const auto client = controller();
  if (!client) return client.error();
  const auto agents = (*client)->agents();
  if (!agents) return forgotten(agents.error());
  EndpointTable table;
  std::size_t asked = 0;
  std::size_t left_out = 0;
  for (const controller::AgentState& listed : agents->agents) {
    if (!listed.connected || asked == kMostAskedForEndpoints) continue;
    // One that leaves meanwhile is left out.
    const auto agent = (*client)->agent(listed.name);
    if (!agent) continue;
    ++asked;
    left_out = std::max(left_out, add_endpoints(*agent, table));
  }
  OrderedJson items = OrderedJson::array();
  for (const auto& [key, health] : table) {
    items.push_back({{"backend", key.first},
                     {"address", key.second},
                     {"agents", health.agents},
                     {"healthy", health.healthy},
                     {"lastError", health.last_error}});
  }
  return json_line(OrderedJson{{"asked", asked}, {"leftOut", left_out}, {"items", std::move(items)}});
}

Result<std::string> Fleet::program(const std::string& hash) {
  const auto client = controller();
  if (!client) return client.error();
  const auto bytes = (*client)->kept_program(hash);
  if (!bytes && bytes.error().code == ErrorCode::kUnimplemented) {
    return Error{
        ErrorCode::kUnimplemented,
        "the controller is older than this server, and gives no programs of its history away: they are listed, "
        "and can be served again, but not be compared or asked"};
  }
  if (!bytes) return forgotten(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<std::string> Fleet::progress(const std::vector<controller::ObjectVersion>& objects) {
  const auto client = controller();
  if (!client) return client.error();
  const auto progress = (*client)->progress(objects);
  if (!progress) return forgotten(progress.error());
  return json_line(progress_json(objects, *progress));
}

Result<std::string> Fleet::roll_back(const std::string& group, const std::string& program) {
  const auto client = controller();
  if (!client) return client.error();
  const std::string of = group.empty() ? std::string(controller::kDefaultGroup) : group;
  if (Status status = (*client)->rollback(of, program); !status) return forgotten(status.error());
  return json_line(OrderedJson{{"group", of}, {"pinned", program}});
}

Result<std::string> Fleet::release(const std::string& group) {
  const auto client = controller();
  if (!client) return client.error();
  const std::string of = group.empty() ? std::string(controller::kDefaultGroup) : group;
  if (Status status = (*client)->release(of); !status) return forgotten(status.error());
  return json_line(OrderedJson{{"group", of}, {"pinned", ""}});
}

Result<std::string> Fleet::set_drained(const std::string& agent, bool drained) {
  const auto client = controller();
  if (!client) return client.error();
  const auto answer =
      (*client)->ask(agent, {.method = "POST", .target = drained ? "/debug/vips/drain" : "/debug/vips/undrain"});
  if (!answer) return forgotten(answer.error());
  if (answer->status / 100 != 2) {
    return Error{ErrorCode::kFailedPrecondition, answer->body.substr(0, answer->body.find('\n'))};
  }
  return json_line(OrderedJson{{"agent", agent}, {"drained", drained}});
}

Result<std::string> Fleet::traffic() {
  if (pages_ == nullptr) {
    auto opened = AgentPages::open(arguments_);
    if (!opened) return opened.error();
    pages_ = std::move(*opened);
  }
  AgentTraffic traffic(*pages_);
  AgentTraffic::Hours hours = traffic.hours(kWindow);
  if (hours.agents.empty() && !hours.faults.empty()) {
    return forgotten({ErrorCode::kUnavailable, std::move(hours.faults.front())});
  }
  const AgentTraffic::Line line = traffic.line(kLine);
  OrderedJson points = OrderedJson::array();
  for (const HourPoint& point : line.points) points.push_back(point_json(point));
  return json_line(OrderedJson{{"window", kWindow},
                               {"agents", rows_json(agent_table(), hours.agents)},
                               {"line", std::move(points)},
                               {"routes", rows_json(route_table(), hours.agents)},
                               {"backends", rows_json(backend_table(), hours.agents)},
                               {"faults", std::move(hours.faults)}});
}

}  // namespace edge::edgectl::web
