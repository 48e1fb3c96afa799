#include <algorithm>
#include <utility>

#include "base/field_name.h"
#include "base/text/ascii.h"
#include "compiler/link/defaults.h"
#include "compiler/link/field_values.h"
#include "compiler/link/retry_on.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

constexpr std::pair<std::string_view, program::Balance> kBalances[] = {
    {"RoundRobin", program::Balance::kRoundRobin},
    {"LeastConn", program::Balance::kLeastConn},
    {"P2C", program::Balance::kP2c},
    {"EWMA", program::Balance::kEwma},
    {"RingHash", program::Balance::kRingHash},
    {"Maglev", program::Balance::kMaglev},
    {"Random", program::Balance::kRandom},
};

std::uint32_t number_or(const model::Maybe<std::int64_t>& value, std::uint32_t fallback) {
  return value ? static_cast<std::uint32_t>(value->value) : fallback;
}

std::uint8_t percent_or(const model::Maybe<std::int64_t>& value, std::uint8_t fallback) {
  return value ? static_cast<std::uint8_t>(value->value) : fallback;
}

HealthCheckSettings health_check_of(const model::HealthCheck& check) {
  HealthCheckSettings settings{
      .interval = value_or(check.interval, kDefaults.probe_interval),
      .timeout = value_or(check.timeout, kDefaults.probe_timeout),
      .initial_delay = value_or(check.initial_delay, model::Duration{0}),
      .healthy_threshold = number_or(check.healthy_threshold, kDefaults.healthy_threshold),
      .unhealthy_threshold = number_or(check.unhealthy_threshold, kDefaults.unhealthy_threshold)};
  if (check.protocol && check.protocol->value == "TCP") settings.protocol = ProbeProtocol::kTcp;
  if (check.protocol && check.protocol->value == "GRPC") settings.protocol = ProbeProtocol::kGrpc;
  if (settings.protocol == ProbeProtocol::kGrpc) settings.grpc_service = value_or(check.grpc_service, {});
  if (settings.protocol != ProbeProtocol::kHttp) return settings;
  settings.path = value_or(check.path, std::string(kDefaults.probe_path));
  settings.host = value_or(check.host, {});
  for (const Located<std::int64_t>& status : check.expected_statuses) {
    settings.expected_statuses.push_back(static_cast<std::uint16_t>(status.value));
  }
  if (settings.expected_statuses.empty()) settings.expected_statuses = {kDefaults.probe_status};
  std::sort(settings.expected_statuses.begin(), settings.expected_statuses.end());
  for (const model::NameValue& header : check.headers) {
    settings.headers.push_back({.name = ascii_lower(header.name.value), .value = header.value.value});
  }
  return settings;
}

/// The circuit breaker of one form bounds ejection; what passiveHealthCheck says itself is nearer.
PassiveCheckSettings passive_check_of(const model::PassiveHealthCheck& check,
                                      const std::optional<model::CircuitBreaker>& breaker) {
  PassiveCheckSettings settings{.consecutive_errors = number_or(check.consecutive_errors, kDefaults.consecutive_errors),
                                .consecutive_gateway_errors = number_or(check.consecutive_gateway_errors, 0),
                                .interval = value_or(check.interval, kDefaults.ejection_interval),
                                .base_ejection_time = value_or(check.base_ejection_time, kDefaults.base_ejection_time),
                                .max_ejection_percent = kDefaults.max_ejection_percent,
                                .percent_field = "spec.passiveHealthCheck",
                                .percent_span = check.span};
  const auto take = [&](const model::Maybe<std::int64_t>& percent, std::string_view field) {
    if (!percent) return;
    settings.max_ejection_percent = static_cast<std::uint8_t>(percent->value);
    settings.percent_field = field;
    settings.percent_span = percent->span;
  };
  if (breaker) take(breaker->max_ejection_percent, "spec.circuitBreaker.maxEjectionPercent");
  take(check.max_ejection_percent, "spec.passiveHealthCheck.maxEjectionPercent");
  return settings;
}

CircuitBreakerSettings circuit_breaker_of(const model::CircuitBreaker& breaker) {
  return {.consecutive_errors = number_or(breaker.consecutive_errors, kDefaults.consecutive_errors),
          .interval = value_or(breaker.interval, kDefaults.ejection_interval),
          .open_time = value_or(breaker.base_ejection_time, kDefaults.base_ejection_time),
          .max_ejection_percent = percent_or(breaker.max_ejection_percent, kDefaults.max_ejection_percent),
          .split_local_errors = value_or(breaker.split_errors, false)};
}

void set_limits(const model::ProxyBackend& backend, LinkedBackend& linked) {
  const bool udp = backend.protocol && backend.protocol->value == "UDP";
  linked.max_connections =
      number_or(backend.max_connections, udp ? kDefaults.max_udp_sessions : kDefaults.max_connections);
  linked.max_pending_requests = number_or(backend.max_pending_requests, kDefaults.max_pending_requests);
  if (const auto& breaker = backend.circuit_breaker) {
    // The breaker's own bounds narrow those of connectionLimits.
    linked.max_connections =
        std::min(linked.max_connections, number_or(breaker->max_connections, linked.max_connections));
    linked.max_pending_requests =
        std::min(linked.max_pending_requests, number_or(breaker->max_pending_requests, linked.max_pending_requests));
  }
  linked.max_requests_per_connection =
      number_or(backend.max_requests_per_connection, kDefaults.max_requests_per_connection);
  linked.max_idle_connections = number_or(backend.max_idle_connections_per_host, kDefaults.max_idle_connections);
  if (const auto& all = backend.max_idle_connections) linked.max_idle_total = static_cast<std::uint32_t>(all->value);
  linked.max_concurrent_retries = number_or(backend.max_concurrent_retries, kDefaults.max_concurrent_retries);
}

}  // namespace

LinkedBackend backend_settings(const model::ProxyBackend& backend) {
  LinkedBackend linked{.identity = identity_of(backend.metadata)};
  linked.balance = kDefaults.balance;
  for (const auto& [name, value] : kBalances) {
    if (backend.lb_policy && backend.lb_policy->value == name) linked.balance = value;
  }
  const auto& spoken = backend.protocol;
  if (spoken && spoken->value != "HTTP") linked.protocol = program::BackendProtocol::kHttp2;
  if (spoken && spoken->value == "UDP") linked.protocol = program::BackendProtocol::kUdp;
  if (const auto& version = backend.proxy_protocol) {
    linked.proxy_protocol = version->value == "V1" ? program::ProxyProtocol::kV1 : program::ProxyProtocol::kV2;
  }
  linked.slow_start = value_or(backend.slow_start, model::Duration{0});
  set_limits(backend, linked);
  linked.connect_timeout = value_or(backend.connect_timeout, kDefaults.connect_timeout);
  linked.request_timeout = value_or(backend.request_timeout, model::Duration{0});
  linked.idle_timeout = value_or(backend.idle_timeout, kDefaults.upstream_idle_timeout);
  linked.backoff_base = kDefaults.backoff_base;
  linked.backoff_max = kDefaults.backoff_max;
  linked.retry_budget_percent = kDefaults.retry_budget_percent;
  linked.min_concurrent_retries = kDefaults.min_concurrent_retries;
  if (const auto& retry = backend.retry_policy) {
    linked.retry_on = retry_on_bits(retry->retry_on);
    linked.max_retries = number_or(retry->max_retries, kDefaults.max_retries);
    linked.per_try_timeout = value_or(retry->per_try_timeout, model::Duration{0});
    linked.backoff_base = value_or(retry->base_interval, kDefaults.backoff_base);
    linked.backoff_max = std::max(value_or(retry->max_interval, kDefaults.backoff_max), linked.backoff_base);
    linked.retry_budget_percent = percent_or(retry->budget_percent, kDefaults.retry_budget_percent);
    linked.min_concurrent_retries = number_or(retry->min_concurrency, kDefaults.min_concurrent_retries);
    // As Envoy's, a budget takes the place of the fixed number, which a server fills in where nobody wrote it.
    if (retry->has_budget) linked.max_concurrent_retries = program::kNone;
  }
  linked.takes_all_trailers = spoken && spoken->value == "GRPC";
  for (const Located<std::string>& name : backend.trailers) linked.trailers.push_back(folded_field_name(name.value));
  std::sort(linked.trailers.begin(), linked.trailers.end());
  linked.trailers.erase(std::unique(linked.trailers.begin(), linked.trailers.end()), linked.trailers.end());
  if (backend.health_check) linked.health_check = health_check_of(*backend.health_check);
  if (const auto& passive = backend.passive_health_check) {
    if (value_or(passive->enabled, true)) linked.passive_check = passive_check_of(*passive, backend.circuit_breaker);
  }
  if (backend.circuit_breaker) linked.circuit_breaker = circuit_breaker_of(*backend.circuit_breaker);
  return linked;
}

}  // namespace edge::compiler::link
