#include "controller/resource_api/http/request_counts.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace edge::resource_api::http {
namespace {

using metrics::Family;
using metrics::labels;

/// The last stands for all others: a client may name any.
constexpr std::array<std::string_view, 6> kNames = {"GET", "POST", "PUT", "PATCH", "DELETE", "other"};

}  // namespace

class RequestCounts::Watch final : public net::server::BodySource {
 public:
  Watch(std::shared_ptr<RequestCounts> counts, std::unique_ptr<BodySource> source)
      : counts_(std::move(counts)), source_(std::move(source)) {
    counts_->watches_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Watch() override { counts_->watches_.fetch_sub(1, std::memory_order_relaxed); }
  Next next(std::string& out) override { return source_->next(out); }
  void on_ready(std::function<void()> ready) override { source_->on_ready(std::move(ready)); }

 private:
  std::shared_ptr<RequestCounts> counts_;
  std::unique_ptr<BodySource> source_;
};

void RequestCounts::answered(std::string_view method, net::server::Reply& reply, std::chrono::nanoseconds took) {
  const auto found = std::find(kNames.begin(), std::prev(kNames.end()), method);
  const auto at = static_cast<std::size_t>(found - kNames.begin());
  const auto status = static_cast<std::size_t>(std::clamp(reply.status / 100, 0, 5));
  requests_[at][status].fetch_add(1, std::memory_order_relaxed);
  // A long list is a stream whose end is known.
  if (reply.stream == nullptr || reply.stream_size) {
    durations_[at].observe(took);
  } else {
    reply.stream = std::make_unique<Watch>(shared_from_this(), std::move(reply.stream));
  }
}

void RequestCounts::write(metrics::Exposition& out) const {
  out.begin(Family::kApiRequests);
  for (std::size_t method = 0; method < kMethods; ++method) {
    for (std::size_t status = 1; status < kClasses; ++status) {
      const std::uint64_t count = requests_[method][status].load(std::memory_order_relaxed);
      if (count == 0) continue;
      out.sample(count, labels({{"verb", kNames[method]}, {"code", std::to_string(status) + "xx"}}));
    }
  }
  out.begin(Family::kApiDuration);
  for (std::size_t method = 0; method < kMethods; ++method) {
    durations_[method].write(out, labels({{"verb", kNames[method]}}));
  }
  out.one(Family::kApiWatches, watches_.load(std::memory_order_relaxed));
}

}  // namespace edge::resource_api::http
