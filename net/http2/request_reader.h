// Text of an HTTP/1.1 request, as sessions write it for a backend, to what HTTP/2 sends of it: a head, body, trailers.
// The mirror image of response_reader.h.
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

/// Takes a request as it is written, torn anywhere. Small: one a stream.
class RequestReader {
 public:
  enum class Event : std::uint8_t {
    kMore,   ///< all input was taken
    kHead,   ///< the head stands in `head`; `ended()` tells whether a body follows
    kData,   ///< a piece of the body
    kEnd,    ///< the body is complete; trailer_lines() may hold fields
    kFault,  ///< not a request
  };
  struct Step {
    Event event = Event::kMore;
    std::size_t consumed = 0;
    std::string_view data;
  };

  /// Reads up to one event; call it again with the rest while the event is not kMore. `head` is a scratch of the
  /// caller, good until the next call.
  Step next(std::string_view text, const http1::HeadLimits& limits, http1::RequestHead& head);
  /// All that follows the head are bytes of a tunnel, until `end_tunnel`.
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
  /// A torn head; our sessions write theirs in one piece.
  Buffer torn_;
  std::uint64_t left_ = 0;
  State state_ = State::kHead;
};

/// The fields of `head` as HTTP/2 has them: pseudo-fields first, those of a connection left out, `te: trailers` added,
/// for trailers are passed on whoever asked. Names keep their case; whoever encodes them lowers it.
void request_fields(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out);
/// The same for a request that asks for a WebSocket: an extended CONNECT (RFC 8441 §4), which needs no key (§5).
void tunnel_fields(const http1::RequestHead& head, std::string_view scheme, std::vector<Field>& out);

}  // namespace edge::net::http2
