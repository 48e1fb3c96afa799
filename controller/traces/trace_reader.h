// Queries the file of traces over a read-only connection, which does not block the writer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "controller/traces/otlp/span.h"

namespace edge::traces {

struct TraceQuery {
  std::string service{};    ///< empty: all
  std::string operation{};  ///< empty: all
  std::int64_t start_us = 0;
  std::int64_t end_us = INT64_MAX;
  std::int64_t least_us = 0;  ///< duration of the matching span
  std::int64_t most_us = INT64_MAX;
  /// Tags that one span must have, in Jaeger's names and format.
  std::vector<std::pair<std::string, std::string>> tags{};
  std::size_t limit = 20;
};

struct Operation {
  std::string name;
  std::string kind;
};

struct StoredTrace {
  otlp::TraceId id{};
  /// Ordered by start; `source` is an index into `sources`.
  struct Entry {
    otlp::Span span;
    std::size_t source = 0;
  };
  std::vector<Entry> spans;
  std::vector<otlp::Source> sources;
  std::size_t bytes = 0;  ///< approximate memory for the conversion to JSON
  bool cut = false;       ///< it has more spans than are returned
};

struct ReadLimits {
  std::size_t spans = 20'000;  ///< per trace
  /// Limit of StoredTrace::bytes, within one span: a tag of two bytes takes some hundred in the output.
  std::size_t bytes = std::size_t{128} << 20;
  std::size_t names = 10'000;                     ///< services, operations
  std::size_t name_bytes = std::size_t{4} << 20;  ///< total
  std::chrono::milliseconds time{5'000};
};

class TraceReader {
 public:
  /// The file must exist.
  static Result<std::unique_ptr<TraceReader>> open(const std::string& path, ReadLimits limits = {});
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  /// Each query fails with kDeadlineExceeded when its time is over.
  Result<std::vector<std::string>> services();
  /// `kind`: empty for all.
  Result<std::vector<Operation>> operations(const std::string& service, const std::string& kind);
  /// Returns the traces with a span that matches the query, the newest first.
  Result<std::vector<otlp::TraceId>> find(const TraceQuery& query);
  /// nullopt: not found.
  Result<std::optional<StoredTrace>> load(const otlp::TraceId& trace);

 private:
  struct Handles;
  TraceReader(std::unique_ptr<Handles> handles, ReadLimits limits);
  std::unique_ptr<Handles> handles_;
  ReadLimits limits_;
};

}  // namespace edge::traces
