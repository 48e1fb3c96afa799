// Converts an HTTP/2 response to HTTP/1.1 text, for the strict parser that all responses pass. The counterpart of
// request_text.h: each part is validated before it is written, and the end of the body is determined from the stream,
// never from the backend's fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/buffer.h"
#include "net/http1/head.h"

namespace edge::net::http2 {

/// Composes one head at a time: field blocks of a connection never interleave (RFC 9113 §4.3).
class ResponseText {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kMalformed,  ///< RFC 9113 §8.1.1: a stream error
    kTooLarge,   ///< one head, or unread heads together
  };

  explicit ResponseText(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Begins a head, appended to `out`. `accept`: the response to an extended CONNECT (RFC 8441 §5), of which a 2xx
  /// becomes a 101 with this Sec-WebSocket-Accept; empty: to a plain CONNECT (RFC 9113 §8.5), with none; null: another
  /// response.
  void begin(Buffer& out, const std::string* accept);
  /// Adds the next field, in the order of the block.
  Fault add(std::string_view name, std::string_view value);
  /// Ends the head. `end_of_stream`: no DATA follows either.
  Fault finish(bool end_of_stream, http1::Method method);
  /// Returns whether it is a 1xx, so that another head follows.
  bool interim() const { return status_ < 200; }
  /// Returns whether the body must be chunked.
  bool chunked() const { return chunked_; }

 private:
  Fault add_status(std::string_view value);
  /// Whether the response accepts the tunnel: its bytes follow.
  bool switches() const { return accept_ != nullptr && status_ / 100 == 2; }

  const std::size_t max_bytes_;
  Buffer* out_ = nullptr;
  const std::string* accept_ = nullptr;
  std::size_t written_ = 0;
  /// Size of the block so far, including dropped fields.
  std::size_t decoded_ = 0;
  int status_ = 0;
  /// The announced length of the body, written once all fields are known.
  std::optional<std::uint64_t> length_;
  bool has_trailers_ = false;
  bool chunked_ = false;
};

}  // namespace edge::net::http2
