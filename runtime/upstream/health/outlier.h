// Outlier ejection of one endpoint by the results of its requests: ProxyBackend's passiveHealthCheck.
//
//   in use --consecutive errors--> ejected --base time, times the ejections so far--> in use
#pragma once

#include <cstdint>

#include "net/clock.h"
#include "runtime/upstream/health/request_result.h"

namespace edge::runtime {

struct OutlierSettings {
  std::uint32_t errors = 0;         ///< consecutive requests without a response below 500; 0: not counted
  std::uint32_t server_errors = 0;  ///< consecutive responses of 500 and above; 0: not counted
  /// Errors further apart are not consecutive. For each interval in use one earlier ejection is forgotten.
  net::Duration interval{};
  net::Duration base_time{};
};

class Outlier {
 public:
  /// Records a result. \returns whether the endpoint should be ejected; the caller knows whether it may be.
  bool observe(RequestResult outcome, const OutlierSettings& settings, net::Time now);
  void eject(const OutlierSettings& settings, net::Time now);
  /// Ends an ejection whose time is over. \returns whether it ended one.
  bool readmit(net::Time now);

  bool ejected() const { return until_ != net::Time{}; }
  net::Time ejected_until() const { return until_; }
  /// Returns the consecutive errors: while there are none, a success changes nothing.
  std::uint32_t run() const { return run_; }

 private:
  void forget(const OutlierSettings& settings, net::Time now);

  std::uint32_t run_ = 0;
  std::uint32_t server_run_ = 0;
  std::uint32_t times_ = 0;
  net::Time last_error_{};
  /// The end of the last ejection, or when an earlier one was last forgotten.
  net::Time counted_from_{};
  net::Time until_{};
};

}  // namespace edge::runtime
