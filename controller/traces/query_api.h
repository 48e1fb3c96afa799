// The query API for Jaeger's UI, Grafana's Jaeger data source and edgectl: services, operations, traces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "controller/traces/trace_reader.h"
#include "net/server/message.h"

namespace edge::traces {

/// Parses a query string. kInvalidArgument names the parameter. `now_us`: the default end of the search.
Result<TraceQuery> parse_trace_query(const net::server::FieldList& parameters, std::int64_t now_us);

/// Not thread-safe.
class QueryApi {
 public:
  /// `clock`: microseconds since the epoch.
  QueryApi(std::unique_ptr<TraceReader> reader, std::function<std::int64_t()> clock)
      : reader_(std::move(reader)), clock_(std::move(clock)) {}

  net::server::Reply answer(const net::server::Request& request);

 private:
  net::server::Reply get(const std::string& path, const net::server::FieldList& parameters);
  net::server::Reply search(const net::server::FieldList& parameters);
  net::server::Reply trace(std::string_view text);
  net::server::Reply load_all(const std::vector<otlp::TraceId>& ids);

  std::unique_ptr<TraceReader> reader_;
  std::function<std::int64_t()> clock_;
};

}  // namespace edge::traces
