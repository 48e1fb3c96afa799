// All defaults of the configuration. docs and schemas state them; a test compares.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/link/linked_settings.h"
#include "program/format/format.h"

namespace edge::compiler::link {

struct Defaults {
  std::string_view controller_class;  ///< of gateways without one (rule D8)
  std::uint64_t gateway_body_limit;
  std::uint32_t weight;
  std::uint32_t redirect_status;
  TlsVersion tls_min_version;
  std::string_view redirect_scheme;
  std::uint16_t redirect_scheme_port;
  std::uint16_t redirect_scheme_status;
  std::uint64_t compression_min_size;
  std::uint8_t compression_level;
  program::CompressedFor compressed_for;
  std::span<const std::string_view> uncompressed_types;
  std::span<const std::string_view> compressed_types;  ///< although the former cover them
  std::uint64_t cache_max_size;
  std::uint64_t cache_max_entry_size;
  std::chrono::nanoseconds cache_max_ttl;
  std::uint8_t sampling_percent;
  program::TraceSenders trace_senders;
  std::string_view access_log_format;
  ClientLimits client_limits;
  std::uint32_t mirror_percent;
  program::Balance balance;
  std::chrono::nanoseconds connect_timeout;
  std::chrono::nanoseconds upstream_idle_timeout;
  std::uint32_t max_connections;
  std::uint32_t max_udp_sessions;  ///< of a backend of protocol UDP; 0: no bound but those of the listeners
  std::uint32_t max_pending_requests;
  std::uint32_t max_requests_per_connection;  ///< 0: unlimited
  std::uint32_t max_idle_connections;         ///< per core and endpoint
  std::uint32_t max_retries;                  ///< of a retry block without a number
  std::uint16_t retry_on;                     ///< of one without a cause
  std::chrono::nanoseconds backoff_base;
  std::chrono::nanoseconds backoff_max;
  std::uint32_t max_concurrent_retries;  ///< for backends without a budget
  std::uint8_t retry_budget_percent;
  std::uint32_t min_concurrent_retries;
  std::chrono::nanoseconds probe_interval;
  std::chrono::nanoseconds probe_timeout;
  std::uint32_t healthy_threshold;
  std::uint32_t unhealthy_threshold;
  std::string_view probe_path;
  std::uint16_t probe_status;
  std::uint32_t consecutive_errors;  ///< of passive checks and circuit breakers, like the three below
  std::chrono::nanoseconds ejection_interval;
  std::chrono::nanoseconds base_ejection_time;
  std::uint8_t max_ejection_percent;
  std::int64_t concurrency_status;  ///< of what a concurrency limit refuses
  std::string_view realm;
  std::string_view identity_header;
  bool strip_api_key;
  std::int64_t filter_status;  ///< of a RequestFilter whose patterns are found
  std::uint64_t inspected_body_size;
  bool forward_certificate;  ///< of a ClientCertificate
  std::chrono::nanoseconds forward_auth_timeout;
  std::span<const std::string_view> oidc_scopes;
  std::string_view token_header;
  std::string_view token_prefix;
  std::chrono::nanoseconds clock_skew;
  std::span<const std::string_view> cors_methods;
  std::uint64_t hsts_max_age;  ///< seconds
  std::string_view page_type;  ///< Content-Type of pages for people
  std::string_view text_type;
  std::chrono::nanoseconds link_probe_interval;
  std::chrono::nanoseconds link_probe_timeout;
  std::uint32_t link_probe_window;
  std::chrono::nanoseconds failover_after;
  std::chrono::nanoseconds failover_back_after;
  std::uint32_t on_demand_names;
  std::chrono::seconds on_demand_keep_unused;
};

extern const Defaults kDefaults;

}  // namespace edge::compiler::link
