#include "compiler/link/defaults.h"

namespace edge::compiler::link {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace {

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;

/// What is compressed already gains nothing; an event stream must not wait for a compressor.
constexpr std::string_view kUncompressedTypes[] = {"image/*",
                                                   "video/*",
                                                   "audio/*",
                                                   "font/woff*",
                                                   "application/zip",
                                                   "application/gzip",
                                                   "text/event-stream",
                                                   "application/x-7z-compressed",
                                                   "application/octet-stream"};
constexpr std::string_view kCompressedTypes[] = {"image/svg+xml"};
/// The headers X-Auth-Name and X-Auth-Email need the last two.
constexpr std::string_view kScopes[] = {"openid", "profile", "email"};
/// Those that a page may send without asking (Fetch, "CORS-safelisted method").
constexpr std::string_view kCorsMethods[] = {"GET", "HEAD", "POST"};

}  // namespace

const Defaults kDefaults = {
    .controller_class = EDGE_API_GROUP "/proxy",
    .gateway_body_limit = 10 * kMebi,
    .weight = 1,
    .redirect_status = 302,
    .tls_min_version = TlsVersion::k12,
    .redirect_scheme = "https",
    .redirect_scheme_port = 443,
    .redirect_scheme_status = 301,
    .compression_min_size = 1024,
    .compression_level = 6,
    .compressed_for = program::CompressedFor::kAll,
    .uncompressed_types = kUncompressedTypes,
    .compressed_types = kCompressedTypes,
    .cache_max_size = 256 * kMebi,
    .cache_max_entry_size = kMebi,
    .cache_max_ttl = hours(24),
    .sampling_percent = 100,
    .trace_senders = program::TraceSenders::kTrustedProxies,
    .access_log_format = "json",
    .client_limits = {.min_body_rate = program::kUsualClientLimits.min_body_rate,
                      .body_grace = std::chrono::nanoseconds(program::kUsualClientLimits.body_grace_ns),
                      .max_connections_per_source = program::kUsualClientLimits.max_connections_per_source,
                      .max_streams_per_source = program::kUsualClientLimits.max_streams_per_source},
    .mirror_percent = 100,
    .balance = program::Balance::kRoundRobin,
    .connect_timeout = seconds(5),
    .upstream_idle_timeout = seconds(60),
    .max_connections = 1000,
    .max_udp_sessions = 0,
    .max_pending_requests = 100,
    .max_requests_per_connection = 0,
    .max_idle_connections = 128,
    .max_retries = 1,
    .retry_on = program::kRetryConnectFailure | program::kRetryRefusedStream | program::kRetryReset,
    .backoff_base = milliseconds(25),
    .backoff_max = milliseconds(250),
    .max_concurrent_retries = 3,
    .retry_budget_percent = 20,
    .min_concurrent_retries = 3,
    .probe_interval = seconds(10),
    .probe_timeout = seconds(5),
    .healthy_threshold = 2,
    .unhealthy_threshold = 3,
    .probe_path = "/health",
    .probe_status = 200,
    .consecutive_errors = 5,
    .ejection_interval = seconds(30),
    .base_ejection_time = seconds(30),
    .max_ejection_percent = 50,
    .concurrency_status = 503,
    .realm = "Restricted",
    .identity_header = "X-Auth-User",
    .strip_api_key = true,
    .filter_status = 403,
    .inspected_body_size = 16 << 10,
    .forward_certificate = false,
    .forward_auth_timeout = seconds(5),
    .oidc_scopes = kScopes,
    .token_header = "authorization",
    .token_prefix = "Bearer ",
    .clock_skew = seconds(60),
    .cors_methods = kCorsMethods,
    .hsts_max_age = 31'536'000,
    .page_type = "text/html; charset=utf-8",
    .text_type = "text/plain; charset=utf-8",
    .link_probe_interval = milliseconds(100),
    .link_probe_timeout = milliseconds(500),
    .link_probe_window = 1000,
    .failover_after = seconds(3),
    .failover_back_after = seconds(60),
    .on_demand_names = 1000,
    .on_demand_keep_unused = std::chrono::hours(720),
};

}  // namespace edge::compiler::link
