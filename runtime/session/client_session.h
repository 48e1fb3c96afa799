// What a worker keeps of each client: a session of HTTP/1.1, or of one stream of HTTP/2; a connection of HTTP/2; a
// handshake; a tunnel.
#pragma once

#include "net/loop.h"
#include "runtime/session/sources.h"

namespace edge::runtime {

/// Lives from Worker::keep to Worker::forget, which it calls itself when it has ended.
class ClientSession : public net::Retirable {
 public:
  /// Ends as soon as nothing is in flight. May end it at once.
  virtual void drain() = 0;
  /// Ends now, whatever it waits for.
  virtual void cancel() = 0;

 protected:
  /// Among what the connection's source has; a stream of HTTP/2 has none of its own.
  Sources::Part& part() { return part_; }

 private:
  friend class Worker;
  ClientSession* previous_ = nullptr;
  ClientSession* next_ = nullptr;
  Sources::Part part_;
  /// Stands for a connection among those that are counted; a stream of HTTP/2 does not.
  bool counted_ = false;
};

}  // namespace edge::runtime
