#include <algorithm>

#include "base/hash.h"
#include "compiler/emit/tables.h"
#include "program/section_builder.h"

namespace edge::compiler::emit {

std::vector<std::byte> emit_backends(const LinkedConfig& config) {
  const auto nanoseconds = [](std::chrono::nanoseconds duration) {
    return static_cast<std::uint64_t>(duration.count());
  };
  program::SectionBuilder builder(sizeof(program::BackendsHeader), 160 * config.backends.size());
  std::vector<program::BackendRecord> records;
  records.reserve(config.backends.size());
  for (const LinkedBackend& backend : config.backends) {
    if (backend.identity.name.empty()) continue;  // a place that is free (compiler/workspace_link.h)
    const auto& identity = backend.identity;
    program::BackendRecord& record = records.emplace_back();
    record.id = stable_id("ProxyBackend", identity.name_space, identity.name);
    record.name_space = builder.string(identity.name_space);
    record.name = builder.string(identity.name);
    record.balance = backend.balance;
    record.max_connections = backend.max_connections;
    record.max_pending_requests = backend.max_pending_requests;
    record.max_requests_per_connection = backend.max_requests_per_connection;
    record.max_idle_connections = backend.max_idle_connections;
    record.retry_on = backend.retry_on;
    record.max_retries = backend.max_retries;
    record.connect_timeout_ns = nanoseconds(backend.connect_timeout);
    record.request_timeout_ns = nanoseconds(backend.request_timeout);
    record.idle_timeout_ns = nanoseconds(backend.idle_timeout);
    record.per_try_timeout_ns = nanoseconds(backend.per_try_timeout);
    record.backoff_base_ns = nanoseconds(backend.backoff_base);
    record.backoff_max_ns = nanoseconds(backend.backoff_max);
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.id < b.id; });

  program::BackendsHeader header{};
  header.backends = builder.array(records);
  return std::move(builder).finish(header);
}

}  // namespace edge::compiler::emit
