// A connection to an endpoint: owned by a session during a request, by the pool otherwise.
#pragma once

#include <cstdint>
#include <memory>

#include "net/loop.h"
#include "runtime/upstream/endpoint.h"

namespace edge::runtime {

class BackendPool;
class SharedConnection;

class UpstreamConnection final : public net::Channel {
 public:
  UpstreamConnection(BackendPool& pool, std::shared_ptr<UpstreamEndpoint> endpoint)
      : pool_(pool), endpoint_(std::move(endpoint)), expiry_(*this) {}

  /// Returns the number of requests on it, including this one. Above 1 it was pooled, and may have died meanwhile.
  std::uint32_t requests() const { return requests_; }
  const UpstreamEndpoint& endpoint() const { return *endpoint_; }
  /// Returns whether it failed, and the endpoint is known not to have processed the request.
  bool refused() const { return layer() != nullptr && layer()->untouched(); }
  /// For a refused connection: returns the request as far as it was written; empty where that was too large to keep.
  std::string_view sent_in_vain() const { return layer()->sent_in_vain(); }
  /// Called when the head of the response has arrived.
  void answered(net::Time now, int status);
  /// Called when the response was invalid after its head.
  void spoilt() { outcome_ = RequestResult::kNoAnswer; }
  /// Called when the outcome was caused by the client alone: it says nothing about the endpoint.
  void tells_nothing() { outcome_ = RequestResult::kUnknown; }

 private:
  friend class BackendPool;

  /// The idle timeout.
  class Expiry final : public net::TimerNode {
   public:
    explicit Expiry(UpstreamConnection& connection) : connection_(connection) {}
    void expired() override { connection_.discard_idle(); }

   private:
    UpstreamConnection& connection_;
  };

  /// Called for events while idle: closed by the peer, or unexpected bytes; the connection is discarded in both cases.
  void unattended(std::uint8_t events) override;
  void discard_idle();
  /// Returns whether the event was handled by the layer (TLS, HTTP/2), without bytes for a request. False without a
  /// layer.
  bool silent();
  void begin(bool weighs_load, bool probe, net::Time now);
  void end();

  BackendPool& pool_;
  std::shared_ptr<UpstreamEndpoint> endpoint_;
  Expiry expiry_;
  std::uint32_t requests_ = 0;
  /// RouteMarks::way_of when it was made.
  std::uint64_t way_ = 0;
  bool idle_ = false;
  /// Counted among the backend's idle connections.
  bool idle_counted_ = false;
  /// Its request is counted in the endpoint's requests in flight.
  bool counted_ = false;
  /// Its request is the probe of an open circuit.
  bool probe_ = false;
  RequestResult outcome_ = RequestResult::kUnknown;
  net::Time began_{};
  /// Set when it is a stream of a shared connection. Not used any more once the stream is closed.
  SharedConnection* shared_ = nullptr;
  UpstreamConnection* previous_ = nullptr;
  UpstreamConnection* next_ = nullptr;
};

}  // namespace edge::runtime
