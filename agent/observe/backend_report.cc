#include "agent/observe/backend_report.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::agent {
namespace {

using runtime::BackendStatus;
using runtime::Circuit;
using runtime::EndpointStatus;
using runtime::Health;
using std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

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

nlohmann::ordered_json endpoint_json(const EndpointStatus& endpoint, Clock::time_point now) {
  nlohmann::ordered_json json = {{"address", address_text(endpoint.address)},
                                 {"healthy", endpoint.healthy()},
                                 {"health", health_text(endpoint.health)},
                                 {"ready", endpoint.ready},
                                 {"inUse", endpoint.in_use}};
  if (!endpoint.zones.empty()) {
    json["zones"] = endpoint.zones;
    json["reserve"] = endpoint.reserve;
  }
  if (!endpoint.cluster.empty()) {
    json["cluster"] = endpoint.cluster;
    if (endpoint.cluster_priority != 0) json["priority"] = endpoint.cluster_priority;
    if (!endpoint.cluster_region.empty()) json["region"] = endpoint.cluster_region;
    json["reserve"] = endpoint.reserve;
    // That its cluster gets of the backend's requests.
    json["share"] = static_cast<int>(endpoint.share * 100 + 0.5);
  }
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

std::string address_text(const net::SocketAddress& address) {
  const std::string host = to_string(address.address);
  const std::string port = std::to_string(address.port);
  return address.address.is_v4() ? host + ":" + port : "[" + host + "]:" + port;
}

std::string endpoints_document(std::span<const BackendStatus> backends, Clock::time_point now,
                               const std::string& zone) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const BackendStatus& backend : backends) {
    nlohmann::ordered_json endpoints = nlohmann::ordered_json::array();
    for (const EndpointStatus& endpoint : backend.endpoints) endpoints.push_back(endpoint_json(endpoint, now));
    const auto healthy = std::ranges::count_if(backend.endpoints, &EndpointStatus::healthy);
    nlohmann::ordered_json circuit = {{"state", circuit_text(backend.circuit)}, {"opened", backend.circuit_opened}};
    if (backend.open_for > net::Duration(0)) {
      circuit["openUntil"] = time_text(now + std::chrono::ceil<milliseconds>(backend.open_for));
    }
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const runtime::NameStatus& name : backend.names) {
      names.push_back({{"name", name.name}, {"addresses", name.addresses}, {"error", name.error}});
    }
    list.push_back({{"namespace", backend.name_space},
                    {"name", backend.name},
                    {"healthyCount", healthy},
                    {"unhealthyCount", std::ssize(backend.endpoints) - healthy},
                    {"circuit", std::move(circuit)},
                    {"connections", backend.connections},
                    {"pendingRequests", backend.queued},
                    {"endpoints", std::move(endpoints)}});
    if (!names.empty()) list.back()["names"] = std::move(names);
  }
  // What a peer said may stand in an error: it need not be UTF-8.
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  if (!zone.empty()) document["zone"] = zone;
  document["backends"] = std::move(list);
  return indented_json(document);
}

}  // namespace edge::agent
