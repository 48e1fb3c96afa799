// Every default of the configuration, in one place. docs and schemas state them; a test compares.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "program/format.h"

namespace edge::compiler::link {

struct Defaults {
  std::string_view controller_class;  ///< of gateways that name none (rule D8)
  std::uint64_t gateway_body_limit;
  std::uint32_t weight;
  std::uint32_t redirect_status;
  program::Balance balance;
  std::chrono::nanoseconds connect_timeout;
  std::chrono::nanoseconds upstream_idle_timeout;
  std::uint32_t max_connections;
  std::uint32_t max_pending_requests;
  std::uint32_t max_requests_per_connection;  ///< 0: unlimited
  std::uint32_t max_idle_connections;         ///< per core and endpoint
  std::uint32_t retries;                      ///< of a retry block that names no number
  std::uint16_t retry_on;                     ///< of one that names no cause
  std::chrono::nanoseconds backoff_base;
  std::chrono::nanoseconds backoff_max;
};

extern const Defaults kDefaults;

}  // namespace edge::compiler::link
