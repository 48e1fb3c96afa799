// One address of a backend as one thread sees it: its idle connections, what it carries, how fast it answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/clock.h"
#include "net/socket.h"
#include "net/tls/client.h"
#include "runtime/upstream/health/backend_state.h"

namespace edge::net {
class Waiter;
}

namespace edge::runtime {

class SharedConnection;
class UpstreamConnection;

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
  /// What all threads know of it.
  std::shared_ptr<EndpointState> state;
  PeakLatency latency;
  /// Its share beside the others'; at least 1.
  std::uint16_t weight = 1;
  /// Most recently used first. Linked through the connections, so that one can leave from the middle.
  UpstreamConnection* idle = nullptr;
  /// The last TLS session with it; null before the first.
  std::shared_ptr<net::tls::Resumption> resumption;
  std::uint32_t idle_count = 0;
  /// HTTP/2: connections that take streams, or did.
  std::vector<SharedConnection*> shared{};
  /// A request that waits for a connection that another one is making.
  struct Joiner {
    net::Waiter* waiter;
    bool failed = false;
  };
  std::vector<Joiner*> joiners{};
  bool connecting = false;
  /// When it came into use beside others: the beginning of its slow start. Zero: with them.
  net::Time since{};
  /// No longer an endpoint of the backend: its connections are closed when their requests end.
  bool gone = false;
};

}  // namespace edge::runtime
