// Converts an HTTP/1.1 request, as written by sessions for a backend, to HTTP/2: head, body, trailers. The counterpart
// of response_reader.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/field.h"
#include "net/buffer.h"
#include "net/http1/chunked.h"
#include "net/http1/parse.h"

namespace edge::net::http2 {

/// Reads a request from input split anywhere. Small: one per stream.
class RequestReader {
 public:
  enum class Event : std::uint8_t {
    kMore,   ///< all input was consumed
    kHead,   ///< the head is in `head`; `ended()` tells whether a body follows
    kData,   ///< a piece of the body
    kEnd,    ///< the body is complete; trailer_lines() may have fields
    kFault,  ///< not a valid request
  };
  struct Step {
    Event event = Event::kMore;
    std::size_t consumed = 0;
    std::string_view data;
  };

  /// Reads up to one event; call it again with the rest while the event is not kMore. `head` is the caller's scratch,
  /// valid until the next call.
  Step next(std::string_view text, const http1::HeadLimits& limits, http1::RequestHead& head);
  /// Everything after the head is bytes of a tunnel, until `end_tunnel`.
  void begin_tunnel() { state_ = State::kTunnel; }
  void end_tunnel() {
    if (state_ == State::kTunnel) state_ = State::kEnded;
  }
  bool ended() const { return state_ == State::kEnded; }
  std::string_view trailer_lines() const { return chunks_.trailer_lines(); }

 private:
  enum class State : std::uint8_t { kHead, kLength, kChunked, kTunnel, kEnded };

  Step read_head(std::string_view text, const http1::HeadLimits& limits, http1::RequestHead& head);
  Step read_length(std::string_view text);
  Step read_chunks(std::string_view text);

  http1::ChunkedDecoder chunks_;
  http1::ParseHint hint_;
  /// An incomplete head; sessions write theirs in one piece.
  Buffer torn_;
  std::uint64_t left_ = 0;
  State state_ = State::kHead;
};

/// Returns the fields of `head` for HTTP/2: pseudo-header fields first, without connection-specific fields, with `te:
/// trailers`, since trailers are always forwarded. Names keep their case; the encoder lowercases them.
void request_fields(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out);
/// The same for a WebSocket request: an extended CONNECT (RFC 8441 §4), which needs no key (§5).
void tunnel_fields(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out);

/// The same for a tunnel of TCP: a CONNECT to the head's host, without scheme and path (RFC 9113 §8.5).
void connect_fields(const http1::RequestHead& head, std::vector<Field>& out);

}  // namespace edge::net::http2
