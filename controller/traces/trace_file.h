// The file of recent traces: SQLite in WAL mode, limited in size and age. The only writer; readers have connections of
// their own (trace_reader.h).
//
//   sources(id, resource, scope, last)            producers of spans
//   operations(id, service, name, kind, last)     names of spans
//   spans(trace, span, start, duration, operation, source, bytes)
//   traces(trace, arrived)                        the order of deletion
//
// `arrived` is when the first span of a trace was received, by the local clock: senders do not control retention.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "controller/traces/incoming_span.h"

namespace edge::traces {

struct TraceLimits {
  std::uint64_t bytes = std::uint64_t{256} << 20;          ///< of the file; its write-ahead log takes some more
  std::int64_t age_us = std::int64_t{24} * 3'600'000'000;  ///< of a trace
};
/// The smallest size that has room for one write.
inline constexpr std::uint64_t kLeastTraceBytes = std::uint64_t{8} << 20;

class TraceFile {
 public:
  /// Creates the file when missing, readable only by the owner. Errors as for resource_api::Database::open.
  static Result<std::unique_ptr<TraceFile>> open(const std::string& path, TraceLimits limits);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Writes all spans or none, skipping those that exist; deletes the oldest for room. At most 1 MiB at a time.
  Status write(std::span<const IncomingSpan> spans, std::int64_t now_us);
  /// Deletes traces that are too old. Those with an arrival in the future, from a clock that was ahead, count as
  /// arrived now.
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
