// What may stand between the user of a channel and its bytes: TLS over the socket, or a stream of HTTP/2 in place of
// one. Without a layer a channel is its socket.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "net/socket.h"

namespace edge::net {

class Channel;

/// Belongs to the channel that carries it and is called by that channel alone, on its loop's thread. It has no
/// coroutine of its own, and resumes none.
class Layer {
 public:
  virtual ~Layer() = default;

  /// As net::receive. kWouldBlock only when there is nothing left inside the layer either: over a socket that reported
  /// its readiness once, or with a `Channel::signal` to come.
  virtual Transfer receive(Channel& channel, std::span<char> into) = 0;
  /// As net::send: what it reports as sent it keeps or has handed on.
  virtual Transfer send(Channel& channel, std::span<const iovec> pieces) = 0;
  /// How much is worth being offered to `send` now; 0: nothing, until a `Channel::signal` of kWrite, which then comes.
  /// What is offered beyond it fills memory and goes no sooner.
  virtual std::size_t appetite() { return std::numeric_limits<std::size_t>::max(); }
  /// Tells the peer that no more will be sent. \returns false when the connection is broken.
  virtual bool finish(Channel& channel) = 0;
  /// Makes the end of the channel one that the peer sees as a failure.
  virtual void reset(Channel& channel) = 0;
  /// Of a broken connection: the peer said, or it is known, that it has acted on nothing of what was sent.
  virtual bool untouched() const { return false; }
  /// Of an untouched one: all that was sent, when it is not too much to be kept; else empty. Good until the next call.
  virtual std::string_view sent_in_vain() const { return {}; }
};

/// What a channel is opened over. Without a descriptor there must be a layer.
struct Transport {
  Fd fd;
  std::unique_ptr<Layer> layer;
};

}  // namespace edge::net
