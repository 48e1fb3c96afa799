#include "runtime/observe/tally/request_sums.h"

#include <numeric>

namespace edge::runtime {
namespace {

template <std::size_t kSize>
void add_counters(std::array<std::uint64_t, kSize>& sums, const std::array<net::Counter, kSize>& counters) {
  for (std::size_t i = 0; i < kSize; ++i) sums[i] += counters[i].value();
}

template <std::size_t kSize>
void add_sums(std::array<std::uint64_t, kSize>& sums, const std::array<std::uint64_t, kSize>& more) {
  for (std::size_t i = 0; i < kSize; ++i) sums[i] += more[i];
}

}  // namespace

std::uint64_t RequestSum::requests() const {
  return std::accumulate(by_class.begin(), by_class.end(), std::uint64_t{0});
}

void RequestSum::add(const RequestSum& other) {
  add_sums(by_class, other.by_class);
  add_sums(durations, other.durations);
  nanoseconds += other.nanoseconds;
  request_bytes += other.request_bytes;
  response_bytes += other.response_bytes;
}

void RequestSums::add(const RequestTally& tally) {
  tally.each_cell([this](const RequestTally::Cell& cell) {
    RequestSum& sum = rows[cell.names];
    add_counters(sum.by_class, cell.counts.by_class);
    add_counters(sum.durations, cell.counts.durations);
    sum.nanoseconds += cell.counts.nanoseconds.value();
    sum.request_bytes += cell.counts.request_bytes.value();
    sum.response_bytes += cell.counts.response_bytes.value();
  });
  tally.each_size([this](const RequestTally::Size& size) {
    SizeSum& sum = sizes[size.gateway];
    add_counters(sum.requests, size.counts.requests);
    add_counters(sum.responses, size.counts.responses);
  });
  folded += tally.folded();
}

}  // namespace edge::runtime
