// Converts an HTTP/1.1 response to HTTP/2: interim heads, head, body, trailers.
//
// The text is written by a session of this proxy; it is parsed as strictly as a backend's, so that nothing invalid is
// sent over HTTP/2.
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

/// Reads a response from input split anywhere. Small: one per stream.
class ResponseReader {
 public:
  enum class Event : std::uint8_t {
    kMore,     ///< all input was consumed
    kInterim,  ///< a 1xx head is in `head`
    kHead,     ///< the head is in `head`; `ended()` tells whether a body follows
    kData,     ///< a piece of the body
    kEnd,      ///< the body is complete; trailer_lines() may have fields
    kFault,    ///< not a valid response
  };
  struct Step {
    Event event = Event::kMore;
    std::size_t consumed = 0;
    std::string_view data;
  };

  explicit ResponseReader(http1::Method method, bool tunnel) : method_(method), tunnel_(tunnel) {}

  /// Reads up to one event; call it again with the rest while the event is not kMore. `head` is the caller's scratch,
  /// valid until the next call.
  Step next(std::string_view text, const http1::HeadLimits& limits, http1::ResponseHead& head);
  /// Called when the writer has closed, which ends a body without a length. \returns false when the response is
  /// incomplete.
  bool close();
  bool ended() const { return state_ == State::kEnded; }
  std::string_view trailer_lines() const { return chunks_.trailer_lines(); }

 private:
  enum class State : std::uint8_t { kHead, kLength, kChunked, kUntilClose, kEnded };

  Step read_head(std::string_view text, const http1::HeadLimits& limits, http1::ResponseHead& head);

  http1::ChunkedDecoder chunks_;
  http1::ParseHint hint_;
  /// An incomplete head; sessions write theirs in one piece.
  Buffer torn_;
  std::uint64_t left_ = 0;
  http1::Method method_;
  State state_ = State::kHead;
  bool tunnel_;
};

/// Returns the fields of `head` for HTTP/2: `:status` first, without connection-specific fields. Names keep their case;
/// the encoder lowercases them. `status_text` stores the first value.
void response_fields(const http1::ResponseHead& head, char (&status_text)[3], std::vector<Field>& out);
/// The same for the lines of a trailer section.
void trailer_fields(std::string_view lines, std::vector<Field>& out);

}  // namespace edge::net::http2
