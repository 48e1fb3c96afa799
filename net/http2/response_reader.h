// Text of an HTTP/1.1 response to what HTTP/2 sends of it: interim heads, a head, body, trailers.
//
// The text is our own, written by a session; it is read with the parser that reads backends all the same, so that what
// goes out over HTTP/2 is never sounder than it looks.
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

/// Takes a response as it is written, torn anywhere. Small: one a stream.
class ResponseReader {
 public:
  enum class Event : std::uint8_t {
    kMore,     ///< all input was taken
    kInterim,  ///< a 1xx head stands in `head`
    kHead,     ///< the head stands in `head`; `ended()` tells whether a body follows
    kData,     ///< a piece of the body
    kEnd,      ///< the body is complete; trailer_lines() may hold fields
    kFault,    ///< not a response
  };
  struct Step {
    Event event = Event::kMore;
    std::size_t consumed = 0;
    std::string_view data;
  };

  explicit ResponseReader(http1::Method method, bool tunnel) : method_(method), tunnel_(tunnel) {}

  /// Reads up to one event; call it again with the rest while the event is not kMore. `head` is a scratch of the
  /// caller, good until the next call.
  Step next(std::string_view text, const http1::HeadLimits& limits, http1::ResponseHead& head);
  /// The writer has closed: a body without a length ends so. \returns false when the response is not complete.
  bool close();
  bool ended() const { return state_ == State::kEnded; }
  /// Nothing of the final response has come.
  bool before_head() const { return state_ == State::kHead; }
  /// A tunnel was agreed on; all that follows is its bytes.
  bool tunneled() const { return tunneled_; }
  std::string_view trailer_lines() const { return chunks_.trailer_lines(); }

 private:
  enum class State : std::uint8_t { kHead, kLength, kChunked, kUntilClose, kEnded };

  Step read_head(std::string_view text, const http1::HeadLimits& limits, http1::ResponseHead& head);

  http1::ChunkedDecoder chunks_;
  http1::ParseHint hint_;
  /// A torn head; our sessions write theirs in one piece.
  Buffer torn_;
  std::uint64_t left_ = 0;
  http1::Method method_;
  State state_ = State::kHead;
  bool tunnel_;
  bool tunneled_ = false;
};

/// The fields of `head` as HTTP/2 has them: `:status` first, those of a connection left out. Names keep their case;
/// whoever encodes them lowers it. `status_text` backs the first value.
void response_fields(const http1::ResponseHead& head, char (&status_text)[3], std::vector<Field>& out);
/// The same for the lines of a trailer section.
void trailer_fields(std::string_view lines, std::vector<Field>& out);

}  // namespace edge::net::http2
