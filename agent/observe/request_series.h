// Writes the metrics of requests by gateway, route and backend, in as much detail as the limit of series allows. With
// many routes, buckets and bytes are omitted first, and counts last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "metrics/exposition.h"
#include "runtime/observe/tally/request_sums.h"

namespace edge::agent {

/// Keeps the level of detail of the last scrape, so that no counter ever decreases. One thread at a time.
class RequestSeries {
 public:
  /// Writes at most about `room` series.
  void write(metrics::Exposition& out, const runtime::RequestSums& sums, std::size_t room);
  /// Forgets routes that are not counted any more; `sums` are their last values.
  void forget(std::span<const runtime::TallyNames> names, const runtime::RequestSums& sums);

  /// Returns the value of edge_metrics_detail.
  std::uint64_t detail() const { return detail_; }
  /// Returns the number of requests counted as route `other`.
  std::uint64_t folded() const { return folded_; }

 private:
  using Rows = std::map<runtime::TallyNames, runtime::RequestSum>;
  Rows fold(const runtime::RequestSums& sums, std::size_t room);

  static constexpr std::size_t kFull = 5;
  std::size_t detail_ = kFull;
  /// When each row was first seen; kFolded: it is merged into `other` permanently.
  std::map<runtime::TallyNames, std::uint64_t> met_;
  std::uint64_t next_ = 0;
  /// The sum of merged rows that were removed.
  runtime::RequestSum gone_;
  std::uint64_t folded_ = 0;
};

}  // namespace edge::agent
