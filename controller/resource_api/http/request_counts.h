// Metrics of requests to the resource API: by method and status class, durations, open watches.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "metrics/exposition.h"
#include "metrics/histogram.h"
#include "net/server/message.h"

namespace edge::resource_api::http {

/// Updated on the server's thread, written from any. Shared: a watch may outlive its creator.
class RequestCounts : public std::enable_shared_from_this<RequestCounts> {
 public:
  /// Counts a reply that is about to be sent. A stream of unknown size is a watch: counted as open until its
  /// destruction, without a duration.
  void answered(std::string_view method, net::server::Reply& reply, std::chrono::nanoseconds took);
  void write(metrics::Exposition& out) const;

 private:
  class Watch;
  static constexpr std::size_t kMethods = 6;
  static constexpr std::size_t kClasses = 6;

  std::array<std::array<std::atomic<std::uint64_t>, kClasses>, kMethods> requests_{};
  std::array<metrics::DurationHistogram, kMethods> durations_;
  std::atomic<std::uint64_t> watches_{0};
};

}  // namespace edge::resource_api::http
