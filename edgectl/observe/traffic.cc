#include "edgectl/observe/traffic.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace edge::edgectl {
namespace {

constexpr std::string_view kRequests = "edge_requests_total";
constexpr std::string_view kBuckets = "edge_request_duration_seconds_bucket";
constexpr std::string_view kNoAnswer = "none";

bool is_error(std::string_view code) { return code.starts_with('5') || code == kNoAnswer; }

double bound_of(std::string_view text) {
  return text == "+Inf" ? std::numeric_limits<double>::infinity() : std::strtod(std::string(text).c_str(), nullptr);
}

/// A counter that is smaller than before counts from zero again.
double growth(double before, double after) { return after >= before ? after - before : after; }

}  // namespace

const std::vector<std::string_view>& traffic_families() {
  static const std::vector<std::string_view> kFamilies = {kRequests, kBuckets};
  return kFamilies;
}

TrafficCounts traffic_counts(const std::vector<Series>& series) {
  TrafficCounts counts;
  for (const Series& one : series) {
    RouteCounts& route = counts[{std::string(one.label("gateway")), std::string(one.label("route"))}];
    const std::string_view name = one.label("__name__");
    if (name == kRequests) {
      route.requests += one.value();
      if (is_error(one.label("code"))) route.errors += one.value();
    } else if (name == kBuckets) {
      route.buckets[bound_of(one.label("le"))] += one.value();
    }
  }
  return counts;
}

void Traffic::add(const TrafficCounts& before, const TrafficCounts& after, double seconds) {
  if (seconds <= 0) return;
  for (const auto& [name, now] : after) {
    static const RouteCounts kNothing;
    const auto found = before.find(name);
    const RouteCounts& then = found == before.end() ? kNothing : found->second;
    const bool anew = now.requests < then.requests;
    Sum& sum = sums_[name];
    sum.rate += growth(then.requests, now.requests) / seconds;
    sum.errors += (anew ? now.errors : growth(then.errors, now.errors)) / seconds;
    for (const auto& [bound, count] : now.buckets) {
      const auto old = then.buckets.find(bound);
      sum.buckets[bound] += anew || old == then.buckets.end() ? count : growth(old->second, count);
    }
  }
}

std::vector<RouteTraffic> Traffic::routes() const {
  std::vector<RouteTraffic> all;
  for (const auto& [name, sum] : sums_) {
    if (sum.rate <= 0) continue;
    all.push_back({name, sum.rate, sum.errors / sum.rate, quantile(0.5, sum.buckets), quantile(0.99, sum.buckets)});
  }
  std::ranges::stable_sort(all, [](const RouteTraffic& a, const RouteTraffic& b) { return a.rate > b.rate; });
  return all;
}

double quantile(double part, const std::map<double, double>& buckets) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  if (buckets.empty() || buckets.rbegin()->second <= 0) return nothing;
  const double rank = part * buckets.rbegin()->second;
  double lower = 0;
  double below = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank && count > below) {
      // Above the last finite bound nothing better is known than that bound.
      if (std::isinf(bound)) return lower;
      return lower + (bound - lower) * (rank - below) / (count - below);
    }
    lower = bound;
    below = count;
  }
  return lower;
}

}  // namespace edge::edgectl
