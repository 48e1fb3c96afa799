// One endpoint of a backend as one thread uses it: its idle connections, its load, its latency.
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
struct ClusterWay;

/// Moving average of the time to a response's head that rises at once and falls slowly ("peak EWMA"). It decays with
/// time, so that an endpoint that was slow once is tried again.
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
  /// Returns nanoseconds, decayed by the age of the measurement.
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
  /// The state shared by all threads.
  std::shared_ptr<EndpointState> state;
  PeakLatency latency;
  /// Its weight among the endpoints; at least 1.
  std::uint16_t weight = 1;
  /// Most recently used first. A doubly linked list through the connections, so that one can be removed from the
  /// middle.
  UpstreamConnection* idle = nullptr;
  /// The last TLS session with the endpoint; null before the first.
  std::shared_ptr<net::tls::Resumption> resumption;
  std::uint32_t idle_count = 0;
  /// HTTP/2: the connections that accept streams, or did.
  std::vector<SharedConnection*> shared{};
  /// A request that waits for a connection that another request is making.
  struct Joiner {
    net::Waiter* waiter;
    bool failed = false;
  };
  std::vector<Joiner*> joiners{};
  bool connecting = false;
  /// Its connections are HTTP/2.
  bool shares = false;
  /// Null: it is of this cluster.
  std::shared_ptr<const ClusterWay> way{};
  /// Likewise; null too where no reference names its cluster.
  std::shared_ptr<const EndpointCluster> cluster{};
  /// When it was added to a running backend: the beginning of its slow start. Zero: no slow start.
  net::Time since{};
  /// No longer an endpoint of the backend: its connections are closed when their requests end.
  bool gone = false;
};

}  // namespace edge::runtime
