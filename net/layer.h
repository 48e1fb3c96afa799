// A layer between the user of a channel and its bytes: TLS over the socket, or an HTTP/2 stream in place of one.
// Without a layer a channel is its socket.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "net/socket.h"

namespace edge::net {

class Channel;

/// Owned by its channel and called only by it, on the loop's thread. It has no coroutine of its own, and resumes none.
class Layer {
 public:
  virtual ~Layer() = default;

  /// As net::receive. kWouldBlock only when the layer has no buffered data either: over a socket that reported its
  /// readiness once, or before a `Channel::signal`.
  virtual Transfer receive(Channel& channel, std::span<char> into) = 0;
  /// As net::send: bytes reported as sent are buffered or passed on.
  virtual Transfer send(Channel& channel, std::span<const iovec> pieces) = 0;
  /// Returns how many bytes are worth offering to `send` now; 0: none, until a `Channel::signal` of kWrite, which will
  /// come. More bytes would only be buffered.
  virtual std::size_t appetite() { return std::numeric_limits<std::size_t>::max(); }
  /// Closes the sending direction. \returns false when the connection is broken.
  virtual bool finish(Channel& channel) = 0;
  /// Makes the end of the channel visible to the peer as a failure.
  virtual void reset(Channel& channel) = 0;
  /// For a broken connection: returns whether the peer is known not to have processed anything that was sent.
  virtual bool untouched() const { return false; }
  /// For such a connection: returns everything that was sent, if small enough to be kept; else empty. Valid until the
  /// next call.
  virtual std::string_view sent_in_vain() const { return {}; }
};

/// What a channel is opened with. Without a descriptor there must be a layer.
struct Transport {
  Fd fd;
  std::unique_ptr<Layer> layer;
};

}  // namespace edge::net
