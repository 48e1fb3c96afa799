#include "compiler/lint/finding.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::Duration;
using model::Maybe;

/// A probe that may outlast the interval overlaps with the next: the slower a backend gets, the more probes it gets.
void probe(const model::ProxyBackend& backend, Diagnostics& diagnostics) {
  const auto& check = backend.health_check;
  if (!check || !check->timeout || !check->interval || check->timeout->value < check->interval->value) return;
  Diagnostic found = warning(backend.metadata, {.code = DiagnosticCode::kProbeTimeout,
                                                .span = check->timeout->span,
                                                .field = "spec.healthCheck.timeout",
                                                .message = "a probe may take as long as the time between two probes",
                                                .fix = "let `timeout` be shorter than `interval`"});
  found.labels.push_back({check->interval->span, "a probe begins this often"});
  diagnostics.add(std::move(found));
}

/// A try that may take as long as the whole request leaves no time for the next one.
void tries(const model::ProxyBackend& backend, Diagnostics& diagnostics) {
  const auto& retry = backend.retry_policy;
  const Maybe<Duration>& whole = backend.request_timeout;
  if (!retry || !retry->per_try_timeout || !whole || whole->value == Duration::zero()) return;
  if (retry->per_try_timeout->value < whole->value) return;
  Diagnostic found = warning(backend.metadata, {.code = DiagnosticCode::kTryTimeout,
                                                .span = retry->per_try_timeout->span,
                                                .field = "spec.retryPolicy.perTryTimeout",
                                                .message = "one try may take as long as the whole request",
                                                .fix = "let `perTryTimeout` be shorter than `timeout.request`"});
  found.labels.push_back({whole->span, "the request ends here, with all its tries"});
  diagnostics.add(std::move(found));
}

bool is_zero(const Maybe<std::int64_t>& value) { return value && value->value == 0; }

Diagnostic no_ejection(const model::ProxyBackend& backend, Span span, const char* field, const char* message,
                       const char* fix) {
  return warning(backend.metadata,
                 {.code = DiagnosticCode::kNoEjection, .span = span, .field = field, .message = message, .fix = fix});
}

/// A percentage that is too small for the endpoints there are is told where these are known (link/backends/values.h).
void ejection(const model::ProxyBackend& backend, Diagnostics& diagnostics) {
  const auto& passive = backend.passive_health_check;
  const auto& breaker = backend.circuit_breaker;
  const bool checks = passive && (!passive->enabled || passive->enabled->value);
  if (checks && is_zero(passive->consecutive_errors) &&
      (!passive->consecutive_gateway_errors || is_zero(passive->consecutive_gateway_errors))) {
    diagnostics.add(no_ejection(backend, passive->consecutive_errors->span, "spec.passiveHealthCheck.consecutiveErrors",
                                "neither errors nor answers of 5xx are counted, so no endpoint is ever ejected",
                                "set `consecutiveErrors` or `consecutiveGatewayErrors`, or leave the check out"));
  }
  if (checks && is_zero(passive->max_ejection_percent)) {
    diagnostics.add(no_ejection(backend, passive->max_ejection_percent->span,
                                "spec.passiveHealthCheck.maxEjectionPercent",
                                "no endpoint may be ejected, so errors are counted for nothing",
                                "raise `maxEjectionPercent`, or leave the check out"));
  }
  if (breaker && is_zero(breaker->max_ejection_percent)) {
    diagnostics.add(no_ejection(backend, breaker->max_ejection_percent->span, "spec.circuitBreaker.maxEjectionPercent",
                                "no endpoint's circuit may open, so errors are counted for nothing",
                                "raise `maxEjectionPercent`"));
  }
}

}  // namespace

void lint(const model::ProxyBackend& backend, Diagnostics& diagnostics) {
  probe(backend, diagnostics);
  ejection(backend, diagnostics);
  tries(backend, diagnostics);
}

}  // namespace edge::compiler::lint
