// A connection to an endpoint: a session's while a request is under way, the pool's in between.
#pragma once

#include <cstdint>
#include <memory>

#include "net/loop.h"

namespace edge::runtime {

class BackendPool;

/// One address of a backend, with the connections of this thread to it.
struct UpstreamEndpoint;

class UpstreamConnection final : public net::Channel {
 public:
  UpstreamConnection(BackendPool& pool, std::shared_ptr<UpstreamEndpoint> endpoint)
      : pool_(pool), endpoint_(std::move(endpoint)), expiry_(*this) {}

  /// Requests that it was given, this one included. Above 1 it was pooled, and may have died meanwhile.
  std::uint32_t requests() const { return requests_; }
  const UpstreamEndpoint& endpoint() const { return *endpoint_; }

 private:
  friend class BackendPool;
  friend struct UpstreamEndpoint;

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

  BackendPool& pool_;
  std::shared_ptr<UpstreamEndpoint> endpoint_;
  Expiry expiry_;
  std::uint32_t requests_ = 0;
  bool idle_ = false;
  UpstreamConnection* previous_ = nullptr;
  UpstreamConnection* next_ = nullptr;
};

}  // namespace edge::runtime
