#include "standalone/trace_store.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "controller/controller_metrics.h"
#include "controller/trace_page.h"
#include "controller/traces/trace_flags.h"

namespace edge::standalone {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(100);
constexpr auto kLongestPause = std::chrono::milliseconds(5000);

}  // namespace

Result<std::unique_ptr<TraceStore>> TraceStore::start(const cli::Arguments& arguments, const std::string& data_dir,
                                                      const Logger& log, When when) {
  auto options = traces::trace_server_options(arguments, data_dir, log);
  if (!options) return options.error();
  std::unique_ptr<TraceStore> store(new TraceStore(std::move(*options)));
  if (when == When::kLater) {
    store->later_ = true;
    const auto& otlp = store->options_.otlp;
    if (otlp && otlp->port != 0) store->otlp_url_ = traces::url_of(*otlp, otlp->port);
    return store;
  }
  auto server = traces::start_trace_server(arguments, data_dir, log);
  if (!server) return server.error();
  store->server_ = std::move(*server);
  if (store->server_) store->otlp_url_ = store->server_->otlp_url();
  return store;
}

TraceStore::~TraceStore() { close(); }

void TraceStore::open() {
  if (later_ && !opening_.joinable()) opening_ = std::thread([this] { open_when_free(); });
}

void TraceStore::open_when_free() {
  std::string reported;
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    auto opened = traces::open_trace_server(options_);
    std::unique_lock lock(mutex_);
    if (closed_) return;
    if (opened) {
      server_ = std::move(*opened);
      return;
    }
    // A process of an older version has the ports until it has drained, and another program may have them for good.
    if (opened.error().text != reported) {
      reported = opened.error().text;
      options_.log.info("traces are not stored yet", {{"reason", reported}});
    }
    if (closed_changed_.wait_for(lock, pause, [this] { return closed_; })) return;
  }
}

void TraceStore::close() {
  std::shared_ptr<traces::TraceServer> server;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    server.swap(server_);
  }
  closed_changed_.notify_all();
  if (opening_.joinable()) opening_.join();
}

std::shared_ptr<traces::TraceServer> TraceStore::server() const {
  const std::lock_guard lock(mutex_);
  return server_;
}

std::optional<controller::AgentAnswer> TraceStore::page(const controller::AgentQuestion& question) const {
  return controller::trace_page(server().get(), question);
}

void TraceStore::write_metrics(metrics::Exposition& out) const {
  if (const auto open = server()) controller::write_trace_counts(out, open->counts());
}

}  // namespace edge::standalone
