#include "agent/observe/metrics.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace edge::agent {
namespace {

using metrics::Exposition;
using metrics::Family;
using metrics::labels;

void write_connections(Exposition& out, const runtime::ServerStats& stats) {
  out.one(Family::kConnectionsAccepted, stats.connections_accepted);
  out.one(Family::kConnectionsRefused, stats.connections_refused);
  out.one(Family::kConnectionsActive, stats.connections_active);
  out.begin(Family::kTlsHandshakes);
  const auto handshakes = [&](std::string_view version, std::uint64_t all, std::uint64_t resumed) {
    // Counted one after the other: what lies between is not told.
    out.sample(all - std::min(all, resumed), labels({{"version", version}, {"resumed", "no"}}));
    out.sample(resumed, labels({{"version", version}, {"resumed", "yes"}}));
  };
  handshakes("1.2", stats.tls_handshakes - std::min(stats.tls_handshakes, stats.tls13_handshakes),
             stats.tls_resumed - std::min(stats.tls_resumed, stats.tls13_resumed));
  handshakes("1.3", stats.tls13_handshakes, stats.tls13_resumed);
  out.one(Family::kTlsFailures, stats.tls_failures);
  out.one(Family::kTunnels, stats.tunnels);
  out.one(Family::kTunnelsRefused, stats.tunnels_refused);
  out.begin(Family::kTunnelBytes);
  out.sample(stats.tunnel_bytes_up, labels({{"direction", "up"}}));
  out.sample(stats.tunnel_bytes_down, labels({{"direction", "down"}}));
  out.one(Family::kUdpSessions, stats.udp_sessions);
  out.one(Family::kUdpSessionsActive, stats.udp_sessions_active);
  out.one(Family::kUdpSessionsEvicted, stats.udp_sessions_evicted);
  out.begin(Family::kUdpDatagrams);
  out.sample(stats.udp_datagrams_up, labels({{"direction", "up"}}));
  out.sample(stats.udp_datagrams_down, labels({{"direction", "down"}}));
  out.begin(Family::kUdpBytes);
  out.sample(stats.udp_bytes_up, labels({{"direction", "up"}}));
  out.sample(stats.udp_bytes_down, labels({{"direction", "down"}}));
  out.begin(Family::kUdpDropped);
  constexpr std::array<const char*, 5> kReasons = {"no-route", "no-endpoint", "limit", "oversized", "send"};
  for (std::size_t i = 0; i < kReasons.size(); ++i) out.sample(stats.udp_drops[i], labels({{"reason", kReasons[i]}}));
  out.one(Family::kBufferMemory, stats.buffer_memory_used);
  out.one(Family::kBufferFiles, stats.buffer_files_used);
}

void write_requests(Exposition& out, const runtime::ServerStats& stats) {
  out.one(Family::kRequestsBegun, stats.requests);
  out.begin(Family::kResponses);
  for (int status = 1; status <= 5; ++status) {
    out.sample(stats.responses[status], labels({{"class", std::to_string(status) + "xx"}}));
  }
  out.one(Family::kUpstreamRetries, stats.upstream_retries);
  out.one(Family::kMirrored, stats.mirrors);
  out.one(Family::kMirroredDropped, stats.mirrors_dropped);
  out.one(Family::kUpstreamConnections, stats.upstream_connects);
  out.one(Family::kUpstreamReused, stats.upstream_reused);
  out.one(Family::kUpstreamTlsFailures, stats.upstream_tls_failures);
}

void write_policies(Exposition& out, const runtime::ServerStats& stats) {
  out.begin(Family::kAuthRequests);
  constexpr std::array<std::string_view, 6> kTypes = {"BasicAuth", "APIKey",      "JWT",
                                                      "OIDC",      "ForwardAuth", "ClientCertificate"};
  constexpr std::array<std::string_view, 4> kOutcomes = {"passed", "denied", "redirected", "failed"};
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    for (std::size_t outcome = 0; outcome < kOutcomes.size(); ++outcome) {
      out.sample(stats.authentication[type][outcome],
                 labels({{"type", kTypes[type]}, {"outcome", kOutcomes[outcome]}}));
    }
  }
  out.begin(Family::kLoginFaults);
  for (std::size_t fault = 0; fault < runtime::auth::kLoginFaults; ++fault) {
    out.sample(stats.login_faults[fault], labels({{"reason", runtime::auth::login_fault_label(fault)}}));
  }
}

void write_cache(Exposition& out, const runtime::cache::Totals& cache) {
  out.one(Family::kCacheHits, cache.hits);
  out.one(Family::kCacheStaleHits, cache.stale_hits);
  out.one(Family::kCacheRevalidated, cache.revalidated);
  out.one(Family::kCacheMisses, cache.misses);
  out.one(Family::kCacheBypassed, cache.bypassed);
  out.one(Family::kCacheRefreshed, cache.refreshed);
  out.one(Family::kCacheStored, cache.stored);
  out.one(Family::kCacheCollapsed, cache.collapsed);
  out.one(Family::kCacheAbandoned, cache.abandoned);
  out.one(Family::kCacheInvalidated, cache.invalidated);
  out.one(Family::kCacheEvictions, cache.evictions);
  out.one(Family::kCacheEntries, cache.entries);
  out.one(Family::kCacheBytes, cache.bytes);
}

void write_programs(Exposition& out, const InstallFacts& installs) {
  out.one(Family::kProgramInstalls, installs.installed);
  out.one(Family::kProgramRefused, installs.refused);
  if (installs.program.empty()) return;
  out.begin(Family::kProgramInfo);
  out.sample(std::uint64_t{1}, labels({{"hash", installs.program}}));
  const std::chrono::duration<double> at = installs.at.time_since_epoch();
  out.one(Family::kProgramInstalled, at.count());
  out.one(Family::kProgramInstallTime, std::chrono::duration<double>(installs.took).count());
}

}  // namespace

void write_certificates(Exposition& out, std::span<const runtime::CertificateExpiry> certificates) {
  out.begin(Family::kCertificateExpiry);
  for (const runtime::CertificateExpiry& certificate : certificates) {
    out.sample(static_cast<double>(certificate.not_after), labels({{"secret", certificate.secret}}));
  }
}

void write_limits(Exposition& out, Family family, std::span<const runtime::RateLimitCount> limits,
                  std::string_view refused) {
  out.begin(family);
  for (const runtime::RateLimitCount& limit : limits) {
    out.sample(limit.passed, labels({{"policy", limit.policy}, {"outcome", "passed"}}));
    out.sample(limit.limited, labels({{"policy", limit.policy}, {"outcome", refused}}));
  }
}

void write_unbound(Exposition& out, std::span<const runtime::UnboundListener> unbound) {
  using runtime::ListenFault;
  constexpr std::pair<ListenFault, std::string_view> kReasons[] = {{ListenFault::kPort, "port"},
                                                                   {ListenFault::kAddress, "address"},
                                                                   {ListenFault::kCertificate, "certificate"},
                                                                   {ListenFault::kOther, "other"}};
  out.begin(Family::kListenersUnbound);
  for (const auto& [fault, reason] : kReasons) {
    const auto count = std::ranges::count(unbound, fault, &runtime::UnboundListener::fault);
    out.sample(static_cast<std::uint64_t>(count), labels({{"reason", reason}}));
  }
}

void write_metrics(Exposition& out, const runtime::ServerStats& stats, const InstallFacts& installs) {
  write_requests(out, stats);
  write_connections(out, stats);
  write_policies(out, stats);
  write_cache(out, stats.cache);
  write_programs(out, installs);
  out.begin(Family::kLoopLag);
  out.histogram(
      {metrics::kDurationBounds, stats.loop_lag.counts, static_cast<double>(stats.loop_lag.nanoseconds) / 1e9}, {});
  out.one(Family::kAccessLogLines, stats.access_log.written);
  out.begin(Family::kAccessLogDropped);
  out.sample(stats.access_log.dropped_busy, labels({{"reason", "busy"}}));
  out.sample(stats.access_log.dropped_output, labels({{"reason", "output"}}));
}

}  // namespace edge::agent
