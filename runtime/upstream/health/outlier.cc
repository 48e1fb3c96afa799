#include "runtime/upstream/health/outlier.h"

#include <algorithm>

namespace edge::runtime {
namespace {

/// However often an endpoint fails, it is looked at again within this time (or its base time, when that is longer).
constexpr net::Duration kLongestEjection = std::chrono::minutes(5);

}  // namespace

bool Outlier::observe(RequestResult outcome, const OutlierSettings& settings, net::Time now) {
  // Requests that began before the ejection say nothing new.
  if (ejected() || outcome == RequestResult::kUnknown) return false;
  if (outcome == RequestResult::kSuccess) {
    run_ = server_run_ = 0;
    return false;
  }
  if (run_ != 0 && settings.interval > net::Duration(0) && now - last_error_ > settings.interval) {
    run_ = server_run_ = 0;
  }
  last_error_ = now;
  ++run_;
  server_run_ = outcome == RequestResult::kServerError ? server_run_ + 1 : 0;
  return (settings.errors != 0 && run_ >= settings.errors) ||
         (settings.server_errors != 0 && server_run_ >= settings.server_errors);
}

void Outlier::forget(const OutlierSettings& settings, net::Time now) {
  if (times_ == 0 || settings.interval <= net::Duration(0)) return;
  const auto passed = static_cast<std::uint64_t>((now - counted_from_) / settings.interval);
  times_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(passed, times_));
}

void Outlier::eject(const OutlierSettings& settings, net::Time now) {
  forget(settings, now);
  ++times_;
  const net::Duration longest = std::max(kLongestEjection, settings.base_time);
  // No overflow: more times than the longest holds make no difference.
  const bool over = settings.base_time > net::Duration(0) && times_ > longest / settings.base_time;
  until_ = now + (over ? longest : settings.base_time * times_);
  run_ = server_run_ = 0;
}

bool Outlier::readmit(net::Time now) {
  if (!ejected() || now < until_) return false;
  counted_from_ = until_;
  until_ = {};
  return true;
}

}  // namespace edge::runtime
