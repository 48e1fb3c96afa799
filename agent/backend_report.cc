#include "agent/backend_report.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

#include "agent/metric_text.h"

namespace edge::agent {
namespace {

using runtime::BackendStatus;
using runtime::Circuit;
using runtime::EndpointStatus;
using runtime::Health;
using std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

std::string address_text(const net::SocketAddress& address) {
  const std::string host = to_string(address.address);
  const std::string port = std::to_string(address.port);
  return address.address.is_v4() ? host + ":" + port : "[" + host + "]:" + port;
}

/// RFC 3339, with milliseconds.
std::string time_text(Clock::time_point time) {
  const auto whole = std::chrono::floor<milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(whole / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, static_cast<int>(whole % 1000));
  return text;
}

std::string_view circuit_text(Circuit::State state) {
  if (state == Circuit::State::kClosed) return "Closed";
  return state == Circuit::State::kOpen ? "Open" : "HalfOpen";
}

std::string_view health_text(Health health) {
  if (health == Health::kInitial) return "Unchecked";
  return health == Health::kHealthy ? "Healthy" : "Unhealthy";
}

/// 0 closed, 1 half-open, 2 open: the higher the worse.
std::uint64_t circuit_number(Circuit::State state) {
  if (state == Circuit::State::kClosed) return 0;
  return state == Circuit::State::kOpen ? 2 : 1;
}

nlohmann::ordered_json endpoint_json(const EndpointStatus& endpoint, Clock::time_point now) {
  nlohmann::ordered_json json = {{"address", address_text(endpoint.address)},
                                 {"healthy", endpoint.healthy()},
                                 {"health", health_text(endpoint.health)},
                                 {"ready", endpoint.ready},
                                 {"inUse", endpoint.in_use}};
  if (endpoint.last_check != Clock::time_point{}) {
    json["lastCheck"] = time_text(endpoint.last_check);
    json["lastError"] = endpoint.last_error;
  }
  if (endpoint.ejected_for > net::Duration(0)) {
    json["ejectedUntil"] = time_text(now + std::chrono::ceil<milliseconds>(endpoint.ejected_for));
  }
  return json;
}

}  // namespace

std::string backend_metrics(std::span<const BackendStatus> backends) {
  MetricText text;
  const auto family = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    text.family(name, type, help);
    for (const BackendStatus& backend : backends) {
      text.sample(value(backend), "backend=\"" + backend.name_space + "/" + backend.name + "\"");
    }
  };
  using B = const BackendStatus&;
  family("edge_health_check_total", "counter", "Health checks made.", [](B b) { return b.checks; });
  family("edge_health_check_success_total", "counter", "Health checks that succeeded.",
         [](B b) { return b.checks - b.failed_checks; });
  family("edge_health_check_failure_total", "counter", "Health checks that failed.",
         [](B b) { return b.failed_checks; });
  text.family("edge_endpoint_healthy", "gauge", "Whether an endpoint would take a request (1) or not (0).");
  for (const BackendStatus& backend : backends) {
    for (const EndpointStatus& endpoint : backend.endpoints) {
      text.sample(endpoint.healthy() ? 1 : 0, "backend=\"" + backend.name_space + "/" + backend.name +
                                                  "\",endpoint=\"" + address_text(endpoint.address) + "\"");
    }
  }
  family("edge_circuit_breaker_state", "gauge", "The circuit: 0 closed, 1 half-open, 2 open.",
         [](B b) { return circuit_number(b.circuit); });
  family("edge_circuit_breaker_opened_total", "counter", "How often the circuit opened.",
         [](B b) { return b.circuit_opened; });
  family("edge_ejections_total", "counter", "Endpoints ejected for their errors.", [](B b) { return b.ejections; });
  family("edge_backend_retries_total", "counter", "Tries made by a retry policy.", [](B b) { return b.retries; });
  family("edge_backend_retries_refused_total", "counter", "Tries that the budget or maxRetries did not allow.",
         [](B b) { return b.retries_refused; });
  family("edge_backend_connections", "gauge", "Connections, in use or kept.",
         [](B b) { return std::uint64_t{b.connections}; });
  family("edge_backend_pending_requests", "gauge", "Requests that wait for a connection.",
         [](B b) { return std::uint64_t{b.queued}; });
  family("edge_backend_overflows_total", "counter", "Requests refused over maxConnections and maxPendingRequests.",
         [](B b) { return b.overflows; });
  return text.take();
}

std::string endpoints_document(std::span<const BackendStatus> backends, Clock::time_point now) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const BackendStatus& backend : backends) {
    nlohmann::ordered_json endpoints = nlohmann::ordered_json::array();
    for (const EndpointStatus& endpoint : backend.endpoints) endpoints.push_back(endpoint_json(endpoint, now));
    const auto healthy = std::ranges::count_if(backend.endpoints, &EndpointStatus::healthy);
    nlohmann::ordered_json circuit = {{"state", circuit_text(backend.circuit)}, {"opened", backend.circuit_opened}};
    if (backend.open_for > net::Duration(0)) {
      circuit["openUntil"] = time_text(now + std::chrono::ceil<milliseconds>(backend.open_for));
    }
    list.push_back({{"namespace", backend.name_space},
                    {"name", backend.name},
                    {"healthyCount", healthy},
                    {"unhealthyCount", std::ssize(backend.endpoints) - healthy},
                    {"circuit", std::move(circuit)},
                    {"connections", backend.connections},
                    {"pendingRequests", backend.queued},
                    {"endpoints", std::move(endpoints)}});
  }
  // What a peer said may stand in an error: it need not be UTF-8.
  const nlohmann::ordered_json document = {{"backends", std::move(list)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace edge::agent
