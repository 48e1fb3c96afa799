// The base of what a worker keeps per client: an HTTP/1.1 session or one HTTP/2 stream, an HTTP/2 connection, a
// handshake, a tunnel.
#pragma once

#include "net/loop.h"
#include "runtime/session/sources.h"

namespace edge::runtime {

struct ClientConnection;

/// Lives from Worker::keep to Worker::forget, which the object calls itself when it has ended.
class ClientSession : public net::Retirable {
 public:
  /// Ends as soon as nothing is in flight; possibly at once.
  virtual void drain() = 0;
  /// Ends now, whatever it waits for.
  virtual void cancel() = 0;
  /// Returns the client's connection; null where nothing was agreed on with it yet.
  virtual const ClientConnection* connection() const { return nullptr; }

 protected:
  /// The connection's part of its source's count; a stream of HTTP/2 has none.
  Sources::Part& part() { return part_; }

 private:
  friend class Worker;
  ClientSession* previous_ = nullptr;
  ClientSession* next_ = nullptr;
  Sources::Part part_;
  /// Whether it counts as a connection; a stream of HTTP/2 does not.
  bool counted_ = false;
};

}  // namespace edge::runtime
