// Writes the metrics of the agent itself; those of requests are in request_series.h, of backends in backend_metrics.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "metrics/exposition.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// Counts of installed and rejected programs, and the running one.
struct InstallFacts {
  std::uint64_t installed = 0;
  std::uint64_t refused = 0;
  std::string program;                         ///< hash of the running one, hex; empty: none yet
  std::chrono::system_clock::time_point at{};  ///< when it was installed
  std::chrono::nanoseconds took{};             ///< to load and install it
};

void write_certificates(metrics::Exposition& out, std::span<const runtime::CertificateExpiry> certificates);
/// `family`: that of rate limits, of concurrency limits, or of request filters; `refused`: the outcome beside `passed`.
void write_limits(metrics::Exposition& out, metrics::Family family, std::span<const runtime::RateLimitCount> limits,
                  std::string_view refused);
void write_unbound(metrics::Exposition& out, std::span<const runtime::UnboundListener> unbound);
void write_metrics(metrics::Exposition& out, const runtime::ServerStats& stats, const InstallFacts& installs);

}  // namespace edge::agent
