// The statistics of this agent's last hour: the documents of /debug/traffic. docs/last-hour.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/health_log.h"
#include "daemon/admin.h"
#include "metrics/last_hour.h"
#include "runtime/observe/tally/request_sums.h"
#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

/// Returns the counters in LastHour's form.
metrics::TrafficReading traffic_reading(const runtime::RequestSums& sums,
                                        std::span<const runtime::BackendStatus> backends, std::uint64_t connections);

/// Threads: any.
class LastHourPages {
 public:
  using Clock = metrics::LastHour::Clock;
  using Read = std::function<metrics::TrafficReading()>;

  /// `read` is called without a lock of this object, from any thread.
  explicit LastHourPages(Read read);

  /// Takes a sample. To be called every LastHour::kStep.
  void record();
  /// Answers `?window=5m`: traffic in that time by gateway, route and backend, and the state of backends.
  daemon::AdminReply traffic(std::string_view query, std::span<const runtime::BackendStatus> backends,
                             const std::string& program) const;
  /// Answers `?range=30m&points=60&gateway=&route=&backend=`.
  daemon::AdminReply line(std::string_view query) const;

 private:
  const Read read_;
  mutable std::mutex mutex_;
  metrics::LastHour hour_;  ///< guarded by mutex_
};

/// `{"troubles":[{"subject":…,"text":…,"since":…}],"more":0}`
std::string troubles_document(const HealthLog::Troubles& troubles);

}  // namespace edge::agent
