// One stream of an agent or a relay, as the hub sees it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "controller/authority/authority.h"

namespace edge::controller {

/// One stream of one agent. `wake` and `end` are called without a lock held, from any thread.
class Stream {
 public:
  explicit Stream(CertificateFacts peer) : Stream(std::move(peer), {}) {}
  /// `name`: that it is counted and found by; empty: the peer's.
  Stream(CertificateFacts peer, std::string name)
      : peer_(std::move(peer)), name_(name.empty() ? peer_.subject.name : std::move(name)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Called when there may be something to send, or time has passed.
  virtual void wake() = 0;
  virtual void end(const Error& why) = 0;

  const CertificateFacts& peer() const { return peer_; }
  const std::string& name() const { return name_; }
  /// A later stream has a larger number.
  std::uint64_t order() const { return order_; }

 private:
  friend class Hub;
  CertificateFacts peer_;
  std::string name_;
  std::uint64_t order_ = 0;
};

}  // namespace edge::controller
