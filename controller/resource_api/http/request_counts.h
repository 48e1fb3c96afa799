// What is counted of requests to the resource API: by method and class of status, how long they took, open watches.
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

/// Counted on the server's thread, written from any. Shared: a watch may outlive who opened it.
class RequestCounts : public std::enable_shared_from_this<RequestCounts> {
 public:
  /// `reply` as it is about to be sent. A stream of no known size is a watch: it counts as open until it is destroyed,
  /// and its time is nobody's.
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
