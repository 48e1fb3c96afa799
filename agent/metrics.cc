#include "agent/metrics.h"

#include <array>

#include "agent/metric_text.h"

namespace edge::agent {
std::string metrics_text(const runtime::ServerStats& stats, const InstallCounts& counts, const std::string& program) {
  MetricText text;
  text.family("edge_requests_total", "counter", "Requests whose head was read.");
  text.sample(stats.requests);
  text.family("edge_responses_total", "counter", "Answers sent, by class of their status.");
  for (int status = 1; status <= 5; ++status) {
    text.sample(stats.responses[status], "class=\"" + std::to_string(status) + "xx\"");
  }
  text.family("edge_connections_accepted_total", "counter", "Client connections taken.");
  text.sample(stats.connections_accepted);
  text.family("edge_connections_refused_total", "counter", "Client connections closed at once, over the limit.");
  text.sample(stats.connections_refused);
  text.family("edge_connections_active", "gauge", "Client connections that are open.");
  text.sample(stats.connections_active);
  text.family("edge_upstream_connections_total", "counter", "Connections opened to backends.");
  text.sample(stats.upstream_connects);
  text.family("edge_upstream_reused_total", "counter", "Requests sent on a kept backend connection.");
  text.sample(stats.upstream_reused);
  text.family("edge_upstream_retries_total", "counter", "Requests sent to a backend once more.");
  text.sample(stats.upstream_retries);
  text.family("edge_tls_handshakes_total", "counter", "TLS handshakes of clients that came to an end.");
  text.sample(stats.tls_handshakes - stats.tls_resumed, "resumed=\"no\"");
  text.sample(stats.tls_resumed, "resumed=\"yes\"");
  text.family("edge_tls_failures_total", "counter", "TLS handshakes of clients that were broken off.");
  text.sample(stats.tls_failures);
  text.family("edge_upstream_tls_failures_total", "counter", "TLS handshakes with backends that failed.");
  text.sample(stats.upstream_tls_failures);
  text.family("edge_mirrored_requests_total", "counter", "Copies of requests sent to another backend.");
  text.sample(stats.mirrors);
  text.family("edge_mirrored_requests_dropped_total", "counter",
              "Copies given up: too many, or their backend too slow.");
  text.sample(stats.mirrors_dropped);
  text.family("edge_buffer_memory_bytes", "gauge", "Memory that bodies take which are held.");
  text.sample(stats.buffer_memory_used);
  text.family("edge_buffer_file_bytes", "gauge", "Room in files that bodies take which are held.");
  text.sample(stats.buffer_files_used);
  text.family("edge_tunnels_total", "counter", "Connections whose bytes are forwarded unread: TCP, TLS, WebSocket.");
  text.sample(stats.tunnels);
  text.family("edge_tunnels_refused_total", "counter", "Those that no rule takes, or that do not begin as they must.");
  text.sample(stats.tunnels_refused);
  text.family("edge_tunnel_bytes_total", "counter", "Bytes forwarded unread, from clients (up) and to them (down).");
  text.sample(stats.tunnel_bytes_up, "direction=\"up\"");
  text.sample(stats.tunnel_bytes_down, "direction=\"down\"");
  text.family("edge_auth_requests_total", "counter", "Requests that an authentication policy was asked about.");
  constexpr std::array<const char*, 4> kTypes = {"BasicAuth", "JWT", "OIDC", "ForwardAuth"};
  constexpr std::array<const char*, 4> kOutcomes = {"passed", "denied", "redirected", "failed"};
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    for (std::size_t outcome = 0; outcome < kOutcomes.size(); ++outcome) {
      text.sample(stats.authentication[type][outcome],
                  std::string("type=\"") + kTypes[type] + "\",outcome=\"" + kOutcomes[outcome] + "\"");
    }
  }
  text.family("edge_login_faults_total", "counter", "Logins and refreshes that came to nothing at the provider.");
  for (std::size_t fault = 0; fault < runtime::auth::kLoginFaults; ++fault) {
    text.sample(stats.login_faults[fault], "reason=\"" + std::string(runtime::auth::login_fault_label(fault)) + "\"");
  }
#define EDGE_CACHE_COUNT(name, help)                          \
  text.family("edge_cache_" #name "_total", "counter", help); \
  text.sample(stats.cache.name);
#include "runtime/shape/cache/counts.def"
#undef EDGE_CACHE_COUNT
  text.family("edge_cache_evictions_total", "counter", "Stored responses driven out by others.");
  text.sample(stats.cache.evictions);
  text.family("edge_cache_entries", "gauge", "Responses that are stored.");
  text.sample(stats.cache.entries);
  text.family("edge_cache_bytes", "gauge", "Memory that they take.");
  text.sample(stats.cache.bytes);
  text.family("edge_program_installs_total", "counter", "Programs that were put to work.");
  text.sample(counts.installed);
  text.family("edge_program_refused_total", "counter", "Programs that were refused; the running one stayed.");
  text.sample(counts.refused);
  text.family("edge_program_info", "gauge", "The running program, by its hash.");
  if (!program.empty()) text.sample(1, "hash=\"" + program + "\"");
  text.family("edge_build_info", "gauge", "The running version.");
  text.sample(1, "version=\"" EDGE_VERSION "\"");
  return text.take();
}

}  // namespace edge::agent
