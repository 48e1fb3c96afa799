// The trace store of edge-standalone. One process at a time has its file and its ports: a process that takes over from
// another opens it once that one has closed it. Until then the exporter of spans tries again.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/result.h"
#include "cli/flags.h"
#include "controller/distribute/agent_answer.h"
#include "controller/traces/trace_server.h"
#include "metrics/exposition.h"

namespace edge::standalone {

/// Threads: any.
class TraceStore {
 public:
  enum class When : std::uint8_t {
    kNow,
    kLater,  ///< by `open`
  };
  /// With kLater only faults of the flags are errors; with kNow as traces::start_trace_server.
  static Result<std::unique_ptr<TraceStore>> start(const cli::Arguments& arguments, const std::string& data_dir,
                                                   const Logger& log, When when);
  ~TraceStore();
  TraceStore(const TraceStore&) = delete;
  TraceStore& operator=(const TraceStore&) = delete;

  /// With kLater: opens it on a thread, as soon as its ports are free. Otherwise does nothing.
  void open();
  /// Writes what was received, and gives file and ports up.
  void close();

  /// URL that this process's own spans go to; empty: none is known.
  const std::string& otlp_url() const { return otlp_url_; }
  const std::string& otlp_token() const { return options_.otlp_token; }
  /// As controller::trace_page.
  std::optional<controller::AgentAnswer> page(const controller::AgentQuestion& question) const;
  void write_metrics(metrics::Exposition& out) const;

 private:
  explicit TraceStore(traces::TraceServerOptions options) : options_(std::move(options)) {}
  std::shared_ptr<traces::TraceServer> server() const;
  void open_when_free();

  const traces::TraceServerOptions options_;
  bool later_ = false;
  std::string otlp_url_;
  mutable std::mutex mutex_;
  std::condition_variable closed_changed_;
  bool closed_ = false;                          ///< guarded by mutex_
  std::shared_ptr<traces::TraceServer> server_;  ///< guarded by mutex_; null: no traces are stored
  std::thread opening_;
};

}  // namespace edge::standalone
