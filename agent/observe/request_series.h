// Writes the metrics of requests by gateway, route and backend, in as much detail as there is room for. With many
// routes, buckets and bytes are left out first, and counts last.
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
  /// Writes about `room` series at most.
  void write(metrics::Exposition& out, const runtime::RequestSums& sums, std::size_t room);
  /// Forgets routes that are counted no more; `sums` are their last values.
  void forget(std::span<const runtime::TallyNames> names, const runtime::RequestSums& sums);

  /// As edge_metrics_detail tells it.
  std::uint64_t detail() const { return detail_; }
  /// Requests that were counted as route `other`.
  std::uint64_t folded() const { return folded_; }

 private:
  using Rows = std::map<runtime::TallyNames, runtime::RequestSum>;
  Rows fold(const runtime::RequestSums& sums, std::size_t room);

  static constexpr std::size_t kFull = 5;
  std::size_t detail_ = kFull;
  /// When each row was met first; kFolded: it is in `other` for good.
  std::map<runtime::TallyNames, std::uint64_t> met_;
  std::uint64_t next_ = 0;
  /// Of rows that were folded and are gone.
  runtime::RequestSum gone_;
  std::uint64_t folded_ = 0;
};

}  // namespace edge::agent
