// The head of a response as text, for HTTP/1.1 and for HTTP/2 streams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/server/message.h"

namespace edge::net::server {

struct AnswerHead {
  enum class Body : std::uint8_t { kNone, kLength, kChunked, kUntilClose };
  int status = 200;
  Body body = Body::kLength;
  std::size_t length = 0;
  std::string_view date;
  /// The Connection field; empty: none.
  std::string_view connection{};
};

/// Returns the head with the fields of `reply`, except those for framing, which are set here; bytes that are not
/// visible text become spaces, so that no handler's text can end a line.
std::string write_answer_head(const AnswerHead& head, const Reply& reply);
/// Returns the body as one chunk, followed by the trailers (RFC 9112 §7.1.2); their values as in a head.
std::string write_chunked_body(const Reply& reply);

}  // namespace edge::net::server
