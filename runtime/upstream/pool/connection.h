// A connection to an endpoint: a session's while a request is under way, the pool's in between.
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

  /// Requests that it was given, this one included. Above 1 it was pooled, and may have died meanwhile.
  std::uint32_t requests() const { return requests_; }
  const UpstreamEndpoint& endpoint() const { return *endpoint_; }
  /// It failed, and the endpoint is known to have done nothing with the request.
  bool refused() const { return layer() != nullptr && layer()->untouched(); }
  /// Of a refused one: the request as far as it was written, or nothing where that was too much to be kept.
  std::string_view sent_in_vain() const { return layer()->sent_in_vain(); }
  /// The head of the response to its request has come.
  void answered(net::Time now, int status);
  /// What came after the head was at fault.
  void spoilt() { outcome_ = RequestResult::kNoAnswer; }
  /// Its answer is due to the client alone.
  void tells_nothing() { outcome_ = RequestResult::kUnknown; }

 private:
  friend class BackendPool;

  /// The end of an unused connection's time.
  class Expiry final : public net::TimerNode {
   public:
    explicit Expiry(UpstreamConnection& connection) : connection_(connection) {}
    void expired() override { connection_.discard_idle(); }

   private:
    UpstreamConnection& connection_;
  };

  /// Closed by the peer while idle, or bytes that nobody asked for: either way it is of no use.
  void unattended(std::uint8_t events) override;
  void discard_idle();
  /// What came was the layer's own affair: nothing is there for a request. False without one.
  bool silent();
  void begin(bool weighs_load, bool probe, net::Time now);
  void end();

  BackendPool& pool_;
  std::shared_ptr<UpstreamEndpoint> endpoint_;
  Expiry expiry_;
  std::uint32_t requests_ = 0;
  bool idle_ = false;
  /// It has a place among the backend's unused connections.
  bool idle_counted_ = false;
  /// Its request counts among those that the endpoint has in flight.
  bool counted_ = false;
  /// Its request tries out an open circuit.
  bool probe_ = false;
  RequestResult outcome_ = RequestResult::kUnknown;
  net::Time began_{};
  /// Set when it is one stream of a connection. Never looked at once the stream is closed.
  SharedConnection* shared_ = nullptr;
  UpstreamConnection* previous_ = nullptr;
  UpstreamConnection* next_ = nullptr;
};

}  // namespace edge::runtime
