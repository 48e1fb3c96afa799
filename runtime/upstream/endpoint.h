// One address of a backend as one thread sees it: its idle connections, what it carries, how fast it answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "net/clock.h"
#include "net/socket.h"

namespace edge::runtime {

class UpstreamConnection;

/// Requests that an endpoint has under way, over all threads of the process, so that "least" means least of all.
/// Relaxed: a choice may be a request behind. On a line of its own, since every thread writes to it.
struct alignas(64) EndpointLoad {
  std::atomic<std::uint32_t> in_flight{0};
};

/// The loads of all endpoints, shared by the threads. Any thread may call.
class EndpointLoads {
 public:
  /// The one of this endpoint, which lives as long as somebody holds it.
  std::shared_ptr<EndpointLoad> of(std::uint64_t backend_id, const net::SocketAddress& address);

 private:
  using Key = std::pair<std::uint64_t, std::pair<IpAddress, std::uint16_t>>;
  std::mutex mutex_;
  std::size_t sweep_at_ = 1024;
  std::map<Key, std::weak_ptr<EndpointLoad>> loads_;
};

/// Moving average of the time to a response's head that believes bad news at once and good news slowly ("peak EWMA").
/// What is old weighs less, so that an endpoint that was slow once is tried again.
class PeakLatency {
 public:
  static constexpr net::Duration kMemory = std::chrono::seconds(10);

  bool measured() const { return value_ > 0; }
  void observe(net::Duration sample, net::Time now) {
    const auto nanoseconds = std::max(1.0, static_cast<double>(sample.count()));
    const double kept = weight(now);
    value_ = std::max(nanoseconds, value_ * kept + nanoseconds * (1 - kept));
    stamp_ = now;
  }
  /// In nanoseconds, faded by its age.
  double at(net::Time now) const { return value_ * weight(now); }

 private:
  double weight(net::Time now) const {
    const auto memory = static_cast<double>(kMemory.count());
    return memory / (memory + static_cast<double>(std::max(net::Duration(0), now - stamp_).count()));
  }
  double value_ = 0;
  net::Time stamp_{};
};

struct UpstreamEndpoint {
  net::SocketAddress address;
  std::shared_ptr<EndpointLoad> load;
  PeakLatency latency;
  /// Most recently used first. Linked through the connections, so that one can leave from the middle.
  UpstreamConnection* idle = nullptr;
  std::uint32_t idle_count = 0;
  /// No longer an endpoint of the backend: its connections are closed when their requests end.
  bool gone = false;
};

}  // namespace edge::runtime
