// The head of an answer as text, for HTTP/1.1 and for the streams of HTTP/2.
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
  /// Of the Connection field; empty: none.
  std::string_view connection{};
};

/// With the fields of `reply` that may stand in a head: those that frame the message are ours, and what a value holds
/// beyond visible text becomes a space, so that no handler's text can end a line.
std::string write_answer_head(const AnswerHead& head, const Reply& reply);
/// The body as one chunk, with the trailers behind it (RFC 9112 §7.1.2); their values as in a head.
std::string write_chunked_body(const Reply& reply);

}  // namespace edge::net::server
