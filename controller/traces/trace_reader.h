// Questions to the file of traces, over a connection that only reads: whoever writes is not held up.
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
  std::string service{};    ///< empty: every one
  std::string operation{};  ///< empty: every one
  std::int64_t start_us = 0;
  std::int64_t end_us = INT64_MAX;
  std::int64_t least_us = 0;  ///< duration of the span that is looked for
  std::int64_t most_us = INT64_MAX;
  /// All of them on one span, as Jaeger names and writes them.
  std::vector<std::pair<std::string, std::string>> tags{};
  std::size_t limit = 20;
};

struct Operation {
  std::string name;
  std::string kind;
};

struct StoredTrace {
  otlp::TraceId id{};
  /// In order of their start; `source` counts in `sources`.
  struct Entry {
    otlp::Span span;
    std::size_t source = 0;
  };
  std::vector<Entry> spans;
  std::vector<otlp::Source> sources;
  std::size_t bytes = 0;  ///< about what it takes in memory while it becomes JSON
  bool cut = false;       ///< it has more spans than are given out
};

struct ReadLimits {
  std::size_t spans = 20'000;  ///< of one trace
  /// Of StoredTrace::bytes, give or take a span: a tag of two bytes takes some hundred while it is shown.
  std::size_t bytes = std::size_t{128} << 20;
  std::size_t names = 10'000;                     ///< services, operations
  std::size_t name_bytes = std::size_t{4} << 20;  ///< of them together
  std::chrono::milliseconds time{5'000};
};

class TraceReader {
 public:
  /// The file is there.
  static Result<std::unique_ptr<TraceReader>> open(const std::string& path, ReadLimits limits = {});
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  /// Each fails with kDeadlineExceeded when the time for it is over.
  Result<std::vector<std::string>> services();
  /// `kind`: empty for all.
  Result<std::vector<Operation>> operations(const std::string& service, const std::string& kind);
  /// Those with a span that the query names, the newest first.
  Result<std::vector<otlp::TraceId>> find(const TraceQuery& query);
  /// nullopt: there is none.
  Result<std::optional<StoredTrace>> load(const otlp::TraceId& trace);

 private:
  struct Handles;
  TraceReader(std::unique_ptr<Handles> handles, ReadLimits limits);
  std::unique_ptr<Handles> handles_;
  ReadLimits limits_;
};

}  // namespace edge::traces
