// An HTTP/2 connection to an endpoint, which the requests of a thread share: each is a stream of it, and an
// UpstreamConnection of its own to its session.
#pragma once

#include <cstdint>
#include <memory>

#include "net/http2/client_channel.h"
#include "net/loop.h"
#include "net/timer_wheel.h"
#include "runtime/upstream/endpoint.h"

namespace edge::runtime {

class BackendPool;

/// Lives from when it is connected until it is closed; then retires itself. Known to its endpoint while it may take
/// further streams, to its pool all its life.
class SharedConnection final : public net::Retirable, private net::TimerNode, private net::http2::ClientChannel::Owner {
 public:
  SharedConnection(BackendPool& pool, std::shared_ptr<UpstreamEndpoint> endpoint, net::Transport transport);

  /// Whether it takes another stream now.
  bool has_room() const;
  /// Precondition: has_room().
  std::unique_ptr<net::Layer> open_stream();
  bool idle() const { return channel_.streams() == 0; }
  std::uint32_t requests() const { return requests_; }
  /// Called when a session has left. Keeps an idle connection for further streams for a while, or closes it.
  void keep_or_close();
  void shut() { channel_.shut(); }
  const UpstreamEndpoint& endpoint() const { return *endpoint_; }

 private:
  friend class BackendPool;

  /// It takes no stream any more, now or ever.
  bool used_up() const;
  bool keeps_idle();
  void gives_idle();
  void expired() override;
  void changed(net::http2::ClientChannel& channel) override;
  void ended(net::http2::ClientChannel& channel) override;

  BackendPool& pool_;
  std::shared_ptr<UpstreamEndpoint> endpoint_;
  net::http2::ClientChannel channel_;
  std::uint32_t requests_ = 0;
  /// It has a place among the backend's unused connections.
  bool idle_counted_ = false;
  SharedConnection* previous_ = nullptr;
  SharedConnection* next_ = nullptr;
};

}  // namespace edge::runtime
