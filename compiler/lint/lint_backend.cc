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

}  // namespace

void lint(const model::ProxyBackend& backend, Diagnostics& diagnostics) {
  probe(backend, diagnostics);
  tries(backend, diagnostics);
}

}  // namespace edge::compiler::lint
