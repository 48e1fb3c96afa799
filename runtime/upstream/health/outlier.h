// Ejection of one endpoint by what traffic meets: ProxyBackend's passiveHealthCheck.
//
//   in use --errors in a row--> ejected --base time, times the ejections so far--> in use
#pragma once

#include <cstdint>

#include "net/clock.h"
#include "runtime/upstream/health/request_result.h"

namespace edge::runtime {

struct OutlierSettings {
  std::uint32_t errors = 0;         ///< requests in a row without an answer below 500; 0: not counted
  std::uint32_t server_errors = 0;  ///< answers of 500 and above in a row; 0: not counted
  /// Errors that lie further apart are not a run. For each that passes in use an earlier ejection is forgotten.
  net::Duration interval{};
  net::Duration base_time{};
};

class Outlier {
 public:
  /// \returns whether the endpoint should be ejected; the caller knows whether it may be.
  bool observe(RequestResult outcome, const OutlierSettings& settings, net::Time now);
  void eject(const OutlierSettings& settings, net::Time now);
  /// \returns whether it was ejected and is in use again.
  bool readmit(net::Time now);

  bool ejected() const { return until_ != net::Time{}; }
  net::Time ejected_until() const { return until_; }
  /// Errors in a row: while there are none, a success changes nothing.
  std::uint32_t run() const { return run_; }

 private:
  void forget(const OutlierSettings& settings, net::Time now);

  std::uint32_t run_ = 0;
  std::uint32_t server_run_ = 0;
  std::uint32_t times_ = 0;
  net::Time last_error_{};
  /// When the last ejection ended, or one before it was forgotten.
  net::Time counted_from_{};
  net::Time until_{};
};

}  // namespace edge::runtime
