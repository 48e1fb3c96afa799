// The sum of all threads' tallies: the request metrics of a scrape.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/observe/tally/request_tally.h"

namespace edge::runtime {

struct RequestSum {
  std::array<std::uint64_t, 6> by_class{};
  std::array<std::uint64_t, kDurationBuckets> durations{};
  std::uint64_t nanoseconds = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;

  std::uint64_t requests() const;
  void add(const RequestSum& other);
};

struct SizeSum {
  std::array<std::uint64_t, kSizeBuckets> requests{};
  std::array<std::uint64_t, kSizeBuckets> responses{};
};

struct RequestSums {
  std::map<TallyNames, RequestSum> rows;
  std::map<std::string, SizeSum> sizes;  ///< by gateway
  std::uint64_t folded = 0;

  void add(const RequestTally& tally);
};

}  // namespace edge::runtime
