// Serves /metrics: the agent's metrics, and those that other parts of the process add.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "agent/observe/metrics.h"
#include "agent/observe/request_ages.h"
#include "agent/observe/request_series.h"
#include "daemon/scrapes.h"
#include "metrics/last_hour.h"
#include "runtime/session/server.h"

namespace edge::agent {

class MetricsPage {
 public:
  using Write = daemon::Scrapes::Write;

  /// `most`: approximate limit of series, including all others. `server` must outlive this object.
  MetricsPage(runtime::Server& server, std::size_t most, std::function<InstallFacts()> installs);

  // Threads: any.
  daemon::AdminReply answer(const daemon::AdminRequest& request) { return scrapes_.answer(request); }
  daemon::AdminReply answer_whole(const daemon::AdminRequest& request) { return scrapes_.answer_whole(request); }
  /// Returns the current counters, for the last hour.
  metrics::TrafficReading traffic();
  /// Registers `write`, whose series are served too. \returns a number for `leave_out`.
  int add(Write write);
  /// Unregisters. Waits while the function runs.
  void leave_out(int number);

 private:
  void write(metrics::Exposition& out);
  void write_requests(metrics::Exposition& out);

  runtime::Server& server_;
  const std::size_t most_;
  const std::function<InstallFacts()> installs_;
  std::mutex mutex_;
  // Under the mutex:
  std::map<int, Write> others_;
  int last_ = 0;
  RequestSeries requests_;
  RequestAges ages_;
  daemon::Scrapes scrapes_;
};

}  // namespace edge::agent
