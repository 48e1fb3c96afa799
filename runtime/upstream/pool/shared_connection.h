// An HTTP/2 connection to an endpoint, shared by the requests of a thread: each request has a stream of it, as an
// UpstreamConnection of its own.
#pragma once

#include <cstdint>
#include <memory>

#include "net/http2/client_channel.h"
#include "net/loop.h"
#include "net/timer_wheel.h"
#include "runtime/upstream/endpoint.h"

namespace edge::runtime {

class BackendPool;

/// Lives from the end of connecting until it is closed; then frees itself. Listed by its endpoint while it accepts
/// streams, by its pool all its life.
class SharedConnection final : public net::Retirable, private net::TimerNode, private net::http2::ClientChannel::Owner {
 public:
  SharedConnection(BackendPool& pool, std::shared_ptr<UpstreamEndpoint> endpoint, net::Transport transport);

  /// Returns whether it accepts another stream now.
  bool has_room() const;
  /// Opens a stream. Precondition: has_room().
  std::unique_ptr<net::Layer> open_stream();
  bool idle() const { return channel_.streams() == 0; }
  std::uint32_t requests() const { return requests_; }
  /// Called when a request has ended. Keeps an idle connection for further streams for a while, or closes it.
  void keep_or_close();
  void shut() { channel_.shut(); }
  const UpstreamEndpoint& endpoint() const { return *endpoint_; }

 private:
  friend class BackendPool;

  /// Returns whether it will never accept a stream again.
  bool used_up() const;
  bool keeps_idle();
  void gives_idle();
  void expired() override;
  void changed(net::http2::ClientChannel& channel) override;
  void ended(net::http2::ClientChannel& channel) override;

  BackendPool& pool_;
  std::shared_ptr<UpstreamEndpoint> endpoint_;
  net::http2::ClientChannel channel_;
  /// By which it was made.
  std::shared_ptr<const ClusterWay> cluster_way_;
  /// That the other cluster's gateway has shown; null: it is of this one.
  net::tls::Handle<x509_st> certificate_;
  std::uint32_t requests_ = 0;
  std::uint64_t way_ = 0;  ///< as UpstreamConnection's
  /// Counted among the backend's idle connections.
  bool idle_counted_ = false;
  SharedConnection* previous_ = nullptr;
  SharedConnection* next_ = nullptr;
};

}  // namespace edge::runtime
