// The file that recent traces are kept in: SQLite in WAL mode, bounded by size and age. This is its one writer; whoever
// reads has a connection of their own (trace_reader.h).
//
//   sources(id, resource, scope, last)            who made spans
//   operations(id, service, name, kind, last)     what they are called
//   spans(trace, span, start, duration, operation, source, bytes)
//   traces(trace, arrived)                        the order in which they go
//
// `arrived` is when the first span of a trace came, by our clock: senders do not decide how long something is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "controller/traces/incoming_span.h"

namespace edge::traces {

struct TraceLimits {
  std::uint64_t bytes = std::uint64_t{256} << 20;          ///< of the file; its log of changes takes some more
  std::int64_t age_us = std::int64_t{24} * 3'600'000'000;  ///< of a trace
};
/// Less would not hold what is written at a time.
inline constexpr std::uint64_t kLeastTraceBytes = std::uint64_t{8} << 20;

class TraceFile {
 public:
  /// Makes the file where it is missing, readable by its owner alone. Errors as resource_api::Database::open.
  static Result<std::unique_ptr<TraceFile>> open(const std::string& path, TraceLimits limits);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// All of them or none, but those that are there already; what is oldest makes room. At most 1 MiB at a time.
  Status write(std::span<const IncomingSpan> spans, std::int64_t now_us);
  /// Deletes what is too old. What came by a clock that ran ahead counts as having come now.
  Status expire(std::int64_t now_us);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t traces() const { return traces_; }

 private:
  struct Handles;
  explicit TraceFile(std::unique_ptr<Handles> handles, TraceLimits limits);
  Status insert(std::span<const IncomingSpan> spans, std::int64_t arrived_us);
  Status make_room(std::uint64_t bytes);
  Status follow_clock(std::int64_t now_us);
  Status remove_oldest(std::int64_t before_us);
  Status forget_names();
  Status measure();
  template <typename Work>
  Status transact(const Work& work);

  std::unique_ptr<Handles> handles_;
  TraceLimits limits_;
  std::uint64_t bytes_ = 0;
  std::uint64_t traces_ = 0;
  std::int64_t latest_us_ = 0;
};

}  // namespace edge::traces
