#include "agent/observe/request_series.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace edge::agent {
namespace {

using metrics::Exposition;
using metrics::Family;
using runtime::RequestSum;
using runtime::RequestSums;
using runtime::TallyNames;

using Rows = std::map<TallyNames, RequestSum>;
using RouteName = std::pair<std::string, std::string>;

constexpr std::uint64_t kFolded = ~std::uint64_t{0};
constexpr std::array<const char*, 6> kCodes = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

/// Series that are exported in addition to the counts.
struct Detail {
  bool durations = false;
  std::size_t every = 0;  ///< as Exposition::histogram takes it
  bool sizes = false;     ///< bytes of routes, sizes of gateways, durations of backends
};
constexpr Detail kDetails[] = {{},
                               {.durations = true},
                               {.durations = true, .every = 6},
                               {.durations = true, .every = 3},
                               {.durations = true, .every = 3, .sizes = true},
                               {.durations = true, .every = 1, .sizes = true}};

constexpr std::size_t histogram_series(std::size_t bounds, std::size_t every) {
  return 3 + (every == 0 ? 0 : (bounds + every - 1) / every);
}

std::size_t classes(const RequestSum& sum) {
  return static_cast<std::size_t>(std::ranges::count_if(sum.by_class, [](std::uint64_t n) { return n != 0; }));
}

std::size_t count_series(const Rows& rows) {
  std::size_t count = 0;
  for (const auto& [names, sum] : rows) count += classes(sum);
  return count;
}

/// Rows, aggregated by the labels of a family.
struct Groups {
  std::map<RouteName, RequestSum> routes;
  std::map<std::string, RequestSum> backends;
  std::map<std::string, RequestSum> gateways;

  explicit Groups(const Rows& rows) {
    for (const auto& [names, sum] : rows) {
      routes[{names.gateway, names.route}].add(sum);
      if (!names.backend.empty()) backends[names.backend].add(sum);
      gateways[names.gateway].add(sum);
    }
  }

  std::size_t series(const Detail& detail) const {
    const std::size_t histogram = histogram_series(runtime::kDurationBuckets - 1, detail.every);
    std::size_t count = detail.durations ? routes.size() * histogram : 0;
    if (detail.sizes) {
      count += routes.size() * 2 + backends.size() * histogram;
      count += gateways.size() * 2 * histogram_series(runtime::kSizeBuckets - 1, 1);
    }
    return count;
  }
};

std::string route_labels(const RouteName& name) {
  return metrics::labels({{"gateway", name.first}, {"route", name.second}});
}

void write_durations(Exposition& out, const RequestSum& sum, const std::string& labels, std::size_t every) {
  out.histogram({metrics::kDurationBounds, sum.durations, static_cast<double>(sum.nanoseconds) / 1e9}, labels, every);
}

void write_counts(Exposition& out, const Rows& rows) {
  out.begin(Family::kRequests);
  // There before the first request, for whoever queries it.
  if (rows.empty()) {
    out.sample(std::uint64_t{0},
               metrics::labels(
                   {{"gateway", ""}, {"route", runtime::RequestTally::kOther}, {"backend", ""}, {"code", kCodes[2]}}));
  }
  for (const auto& [names, sum] : rows) {
    for (std::size_t code = 0; code < kCodes.size(); ++code) {
      if (sum.by_class[code] == 0) continue;
      out.sample(sum.by_class[code], metrics::labels({{"gateway", names.gateway},
                                                      {"route", names.route},
                                                      {"backend", names.backend},
                                                      {"code", kCodes[code]}}));
    }
  }
}

void write_sizes(Exposition& out, const Groups& groups, const RequestSums& sums) {
  out.begin(Family::kRequestBytes);
  for (const auto& [name, sum] : groups.routes) out.sample(sum.request_bytes, route_labels(name));
  out.begin(Family::kResponseBytes);
  for (const auto& [name, sum] : groups.routes) out.sample(sum.response_bytes, route_labels(name));
  const auto histograms = [&](Family family, auto counts, auto bytes) {
    out.begin(family);
    for (const auto& [gateway, sum] : groups.gateways) {
      const auto found = sums.sizes.find(gateway);
      if (found == sums.sizes.end()) continue;
      out.histogram({metrics::kSizeBounds, found->second.*counts, static_cast<double>(sum.*bytes)},
                    metrics::labels({{"gateway", gateway}}));
    }
  };
  histograms(Family::kRequestSize, &runtime::SizeSum::requests, &RequestSum::request_bytes);
  histograms(Family::kResponseSize, &runtime::SizeSum::responses, &RequestSum::response_bytes);
}

}  // namespace

// In the order in which they were met, as far as the counts alone find room. What is folded once stays so: were it told
// apart later, `other` would go down.
RequestSeries::Rows RequestSeries::fold(const RequestSums& sums, std::size_t room) {
  using Row = Rows::const_iterator;
  std::vector<std::pair<std::uint64_t, Row>> order;
  RequestSum other = gone_;
  const TallyNames other_names{"", runtime::RequestTally::kOther, ""};
  for (auto row = sums.rows.begin(); row != sums.rows.end(); ++row) {
    if (row->first == other_names) {
      other.add(row->second);
      continue;
    }
    const auto [met, fresh] = met_.try_emplace(row->first, next_);
    next_ += fresh ? 1 : 0;
    order.emplace_back(met->second, row);
  }
  std::ranges::sort(order, {}, [](const auto& entry) { return entry.first; });
  Rows rows;
  std::size_t used = kCodes.size();
  for (const auto& [met, row] : order) {
    used += met == kFolded ? 0 : classes(row->second);
    if (met == kFolded || used > room) {
      met_[row->first] = kFolded;
      other.add(row->second);
    } else {
      rows.insert(*row);
    }
  }
  folded_ = other.requests();
  if (folded_ != 0) rows.emplace(other_names, other);
  return rows;
}

void RequestSeries::write(Exposition& out, const RequestSums& sums, std::size_t room) {
  const Rows rows = fold(sums, room);
  const Groups groups(rows);
  const std::size_t counts = count_series(rows);
  const auto fits = [&](std::size_t detail, std::size_t within) {
    return counts + groups.series(kDetails[detail]) <= within;
  };
  // More than now only where there is room to spare: else it would come and go.
  while (detail_ > 0 && !fits(detail_, room)) --detail_;
  while (detail_ < kFull && fits(detail_ + 1, room - room / 5)) ++detail_;
  const Detail& detail = kDetails[detail_];

  write_counts(out, rows);
  if (detail.durations) {
    out.begin(Family::kRequestDuration);
    for (const auto& [name, sum] : groups.routes) write_durations(out, sum, route_labels(name), detail.every);
  }
  if (detail.sizes) {
    out.begin(Family::kBackendDuration);
    for (const auto& [backend, sum] : groups.backends) {
      write_durations(out, sum, metrics::labels({{"backend", backend}}), detail.every);
    }
    write_sizes(out, groups, sums);
  }
}

void RequestSeries::forget(std::span<const TallyNames> names, const RequestSums& sums) {
  for (const TallyNames& name : names) {
    const auto met = met_.find(name);
    if (met == met_.end()) continue;
    const auto row = sums.rows.find(name);
    if (met->second == kFolded && row != sums.rows.end()) gone_.add(row->second);
    met_.erase(met);
  }
}

}  // namespace edge::agent
