#include "controller/operator/rollout/canary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

/// Classes of a page: not answered, 1xx to 5xx.
constexpr std::size_t kClasses = 6;
constexpr std::size_t kMostBounds = 64;
/// Beyond it the sum of many agents would overflow.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 48;
/// Standard deviations: one comparison in a thousand is wrong by chance, and two shares must differ so far each.
constexpr double kDeviations = 3.0;
/// Larger by so much does not matter.
constexpr double kShareMargin = 0.005;
constexpr double kSlowMargin = 0.05;
constexpr double kQuantile = 0.95;
constexpr double kSlower = 2.0;
/// What is faster is never slow, in seconds.
constexpr double kFastEnough = 0.025;

std::optional<std::vector<std::uint64_t>> counts_in(const json& object, std::string_view name, std::size_t most) {
  const json& list = list_in(object, name);
  if (list.size() > most) return std::nullopt;
  std::vector<std::uint64_t> counts;
  for (const json& one : list) {
    if (!one.is_number_unsigned()) return std::nullopt;
    counts.push_back(std::min(one.get<std::uint64_t>(), kMostCount));
  }
  return counts;
}

struct Bounds {
  double low;
  double high;
};

/// Where the true share lies, of which `part` of `all` is a sample (Wilson's interval). Precondition: all > 0.
Bounds share_of(std::uint64_t part, std::uint64_t all) {
  const auto n = static_cast<double>(all);
  const double share = static_cast<double>(part) / n;
  const double square = kDeviations * kDeviations;
  const double middle = share + square / (2 * n);
  const double width = kDeviations * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  const double scale = 1 + square / n;
  return {(middle - width) / scale, (middle + width) / scale};
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& counts, std::size_t from = 0) {
  std::uint64_t sum = 0;
  for (std::size_t i = from; i < counts.size(); ++i) sum += counts[i];
  return sum;
}

/// The bucket from which on requests are slow, by what the reference shows. The number of buckets: the reference is so
/// slow that nothing slower can be told apart. nullopt: it has no durations.
std::optional<std::size_t> slow_from(const Traffic& reference) {
  const std::uint64_t all = sum_of(reference.durations);
  if (all == 0 || reference.durations.size() != reference.bounds.size() + 1) return std::nullopt;
  std::uint64_t seen = 0;
  std::size_t usual = 0;
  for (; usual < reference.bounds.size(); ++usual) {
    seen += reference.durations[usual];
    if (static_cast<double>(seen) >= kQuantile * static_cast<double>(all)) break;
  }
  if (usual == reference.bounds.size()) return reference.durations.size();
  const double limit = std::max(kSlower * reference.bounds[usual], kFastEnough);
  const auto bound = std::ranges::lower_bound(reference.bounds, limit);
  if (bound == reference.bounds.end()) return reference.durations.size();
  return static_cast<std::size_t>(bound - reference.bounds.begin()) + 1;
}

struct Reference {
  const char* name;
  const Traffic& traffic;
};

struct Measure {
  const char* what;
  double margin;
};

/// Parts of a canary's and a reference's requests; nullopt: they cannot be compared in this.
struct Parts {
  std::uint64_t canary;
  std::uint64_t reference;
};
std::optional<Parts> parts_of(const Traffic& canary, const Traffic& reference, std::size_t measure) {
  if (measure == 0) return Parts{canary.failed, reference.failed};
  if (measure == 1) return Parts{canary.refused, reference.refused};
  if (canary.bounds != reference.bounds) return std::nullopt;
  const auto slow = slow_from(reference);
  if (!slow) return std::nullopt;
  return Parts{sum_of(canary.durations, *slow), sum_of(reference.durations, *slow)};
}

std::string percent(std::uint64_t part, std::uint64_t all) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f%%", 100.0 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

std::string sentence(const Measure& measure, const Traffic& canary, const std::vector<Reference>& references,
                     std::size_t number) {
  std::string text;
  for (const Reference& reference : references) {
    const auto parts = parts_of(canary, reference.traffic, number);
    if (!parts) continue;
    if (text.empty()) {
      text = percent(parts->canary, canary.requests) + " of " + std::to_string(canary.requests) +
             " requests of the first agent were " + measure.what;
    }
    text += ", " + percent(parts->reference, reference.traffic.requests) + " of " +
            std::to_string(reference.traffic.requests) + " " + reference.name;
  }
  return text;
}

}  // namespace

std::optional<Traffic> read_traffic(std::string_view page) {
  const json object = parse_json(page);
  const json& total = member_in(object, "total");
  const auto classes = counts_in(total, "requests", kClasses);
  const auto durations = counts_in(total, "durations", kMostBounds + 1);
  const json& bounds = list_in(object, "bounds");
  if (!classes || classes->size() != kClasses || !durations || bounds.size() > kMostBounds) return std::nullopt;
  Traffic traffic{.requests = sum_of(*classes), .failed = classes->front() + classes->back(), .refused = (*classes)[4]};
  for (const json& bound : bounds) {
    if (!bound.is_number()) return std::nullopt;
    const auto seconds = bound.get<double>();
    if (!traffic.bounds.empty() && !(seconds > traffic.bounds.back())) return std::nullopt;
    traffic.bounds.push_back(seconds);
  }
  const bool without_durations = durations->empty() && traffic.bounds.empty();
  if (!without_durations && durations->size() != traffic.bounds.size() + 1) return std::nullopt;
  traffic.durations = *durations;
  return traffic;
}

std::string write_traffic(const Traffic& traffic) {
  // The classes that count; what was answered well is the rest.
  const std::array<std::uint64_t, kClasses> classes = {
      0,
      0,
      traffic.requests - std::min(traffic.requests, traffic.failed + traffic.refused),
      0,
      traffic.refused,
      traffic.failed};
  return json_line(
      json{{"total", {{"requests", classes}, {"durations", traffic.durations}}}, {"bounds", traffic.bounds}});
}

void add(Traffic& to, const Traffic& more) {
  to.requests += more.requests;
  to.failed += more.failed;
  to.refused += more.refused;
  if (to.durations.empty()) {
    to.bounds = more.bounds;
    to.durations = more.durations;
    return;
  }
  if (to.bounds != more.bounds) return;
  for (std::size_t i = 0; i < to.durations.size(); ++i) to.durations[i] += more.durations[i];
}

Comparison compare(const Traffic& canary, const Traffic& others, const Traffic& before) {
  using Result = Comparison::Result;
  std::vector<Reference> references;
  for (const Reference& one : {Reference{"on the other agents", others}, Reference{"on its node before", before}}) {
    if (one.traffic.requests >= kLeastRequests) references.push_back(one);
  }
  if (canary.requests < kLeastRequests || references.empty()) {
    return {Result::kTooFew, "too few requests to be compared (" + std::to_string(canary.requests) + ")"};
  }
  constexpr Measure kMeasures[] = {{"failed", kShareMargin}, {"refused (4xx)", kShareMargin}, {"slow", kSlowMargin}};
  for (std::size_t i = 0; i < std::size(kMeasures); ++i) {
    bool compared = false;
    bool worse = true;
    for (const Reference& reference : references) {
      const auto parts = parts_of(canary, reference.traffic, i);
      if (!parts) continue;
      compared = true;
      const double own = share_of(std::min(parts->canary, canary.requests), canary.requests).low;
      const double theirs =
          share_of(std::min(parts->reference, reference.traffic.requests), reference.traffic.requests).high;
      worse = worse && own > theirs + kMeasures[i].margin;
    }
    if (compared && worse) return {Result::kWorse, sentence(kMeasures[i], canary, references, i)};
  }
  return {Result::kSound, std::to_string(canary.requests) + " requests of the first agent were compared"};
}

}  // namespace edge::cluster_operator
