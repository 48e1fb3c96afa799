// The health of one endpoint by active checks: the table "Endpoint health" of the specification.
#pragma once

#include <cstdint>

namespace edge::runtime {

enum class Health : std::uint8_t {
  kInitial,  ///< not known yet: takes traffic while no endpoint is known to be healthy
  kHealthy,
  kUnhealthy,
};

struct HealthThresholds {
  std::uint32_t healthy = 0;    ///< consecutive successes that make it healthy
  std::uint32_t unhealthy = 0;  ///< consecutive failures that make it unhealthy
};

class EndpointHealth {
 public:
  /// Records the result of one check. \returns whether the health has changed.
  bool checked(bool success, const HealthThresholds& thresholds) {
    run_ = success == succeeding_ ? run_ + 1 : 1;
    succeeding_ = success;
    const Health verdict = success ? Health::kHealthy : Health::kUnhealthy;
    if (health_ == verdict || run_ < (success ? thresholds.healthy : thresholds.unhealthy)) return false;
    health_ = verdict;
    return true;
  }
  Health health() const { return health_; }

 private:
  Health health_ = Health::kInitial;
  bool succeeding_ = true;
  std::uint32_t run_ = 0;
};

}  // namespace edge::runtime
