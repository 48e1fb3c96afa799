#include "agent/observe/metrics_page.h"

#include <chrono>
#include <utility>

#include "agent/last_hour_pages.h"
#include "agent/observe/backend_metrics.h"
#include "metrics/process.h"

namespace edge::agent {
namespace {

using metrics::Exposition;
using metrics::Family;

/// What is written behind the requests.
constexpr std::size_t kTail = 8;

}  // namespace

MetricsPage::MetricsPage(runtime::Server& server, std::size_t most, std::function<InstallFacts()> installs)
    : server_(server), most_(most), installs_(std::move(installs)), scrapes_([this](Exposition& out) { write(out); }) {}

int MetricsPage::add(Write write) {
  const std::lock_guard lock(mutex_);
  others_.emplace(++last_, std::move(write));
  return last_;
}

void MetricsPage::leave_out(int number) {
  const std::lock_guard lock(mutex_);
  others_.erase(number);
}

metrics::TrafficReading MetricsPage::traffic() {
  const std::lock_guard lock(mutex_);
  return traffic_reading(server_.requests(), server_.backends(), server_.stats().connections_active);
}

// Requests come last: their detail is fitted into the room that the others leave.
void MetricsPage::write(Exposition& out) {
  const std::lock_guard lock(mutex_);
  metrics::write_process(out);
  write_metrics(out, server_.stats(), installs_());
  write_unbound(out, server_.unbound());
  write_certificates(out, server_.certificates());
  write_limits(out, metrics::Family::kRateLimit, server_.rate_limits(), "limited");
  write_limits(out, metrics::Family::kConcurrencyLimit, server_.concurrency_limits(), "limited");
  write_limits(out, metrics::Family::kRequestFilter, server_.request_filters(), "at_fault");
  const runtime::SharedLimitFacts shared = server_.shared_limits();
  out.one(metrics::Family::kSharedLimitShare, static_cast<std::uint64_t>(shared.share));
  out.one(metrics::Family::kSharedLimitUntold, shared.untold);
  for (const auto& [number, write] : others_) write(out);
  const std::size_t left_out = write_backend_metrics(out, server_.backends(), most_ / 2);
  out.one(Family::kBackendsLeftOut, std::uint64_t{left_out});
  write_requests(out);
  out.one(Family::kDetail, requests_.detail());
  out.one(Family::kFolded, requests_.folded());
  out.one(Family::kSeriesLimit, std::uint64_t{most_});
  out.one(Family::kSeries, std::uint64_t{out.series() + 1});
}

void MetricsPage::write_requests(Exposition& out) {
  const runtime::RequestSums sums = server_.requests();
  const std::size_t used = out.series() + kTail;
  requests_.write(out, sums, most_ > used ? most_ - used : 0);
  const auto gone = ages_.gone(sums, server_.program().get(), RequestAges::Clock::now());
  if (gone.empty()) return;
  requests_.forget(gone, sums);
  server_.forget_requests(gone);
}

}  // namespace edge::agent
