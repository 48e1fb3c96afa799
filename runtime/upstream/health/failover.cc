#include "runtime/upstream/health/failover.h"

#include <algorithm>
#include <cmath>

namespace edge::runtime {
namespace {

/// A share that is never gone below when demand is estimated from it.
constexpr double kLeastShare = 0.05;
constexpr double kSteps = 20;

double health_of(const FailoverGroup& group) {
  if (group.all == 0 || group.usable == 0) return 0;
  const double usable = static_cast<double>(std::min(group.usable, group.all)) / static_cast<double>(group.all);
  return usable * std::min(group.healthy_percent, 100U) / 100.0;
}

}  // namespace

std::vector<double> failover_shares(std::span<const FailoverGroup> groups, const FailoverSettings& settings) {
  std::vector<double> shares(groups.size(), 0);
  std::vector<std::uint32_t> levels;
  for (const FailoverGroup& group : groups) levels.push_back(group.level);
  std::ranges::sort(levels);
  levels.erase(std::ranges::unique(levels).begin(), levels.end());
  double left = 1;
  double own_more = 0;  // that level 0 could carry, but for its load
  for (const std::uint32_t level : levels) {
    double weights = 0;
    double healthy = 0;
    for (const FailoverGroup& group : groups) {
      if (group.level != level) continue;
      weights += group.weight;
      healthy += group.weight * health_of(group);
    }
    if (weights == 0 || healthy == 0) continue;
    double takes = std::min(1.0, healthy / weights * 100.0 / std::max(1U, settings.healthy_percent));
    if (level == 0) {
      const double may = std::clamp(settings.most_of_own, 0.0, 1.0);
      own_more = std::max(0.0, takes - may);
      takes = std::min(takes, may);
    }
    takes = std::min(takes, left);
    left -= takes;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].level == level) shares[i] = takes * groups[i].weight * health_of(groups[i]) / healthy;
    }
  }
  // What nobody is healthy enough for: back to level 0 as far as its load alone kept it away, then to all in
  // proportion.
  const double back = std::min(left, own_more);
  if (back > 0) {
    double healthy = 0;
    for (const FailoverGroup& group : groups) healthy += group.level == 0 ? group.weight * health_of(group) : 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].level == 0) shares[i] += back * groups[i].weight * health_of(groups[i]) / healthy;
    }
  }
  double total = 0;
  for (const double share : shares) total += share;
  if (total > 0) {
    for (double& share : shares) share /= total;
  }
  return shares;
}

double most_of_own(std::uint64_t in_flight, double share_now, std::uint64_t endpoints, std::uint32_t most) {
  if (most == 0 || endpoints == 0 || in_flight == 0) return 1;
  const double demand = static_cast<double>(in_flight) / std::max(kLeastShare, share_now);
  const double capacity = static_cast<double>(most) * static_cast<double>(endpoints);
  return std::clamp(std::floor(capacity / demand * kSteps) / kSteps, kLeastShare, 1.0);
}

}  // namespace edge::runtime
