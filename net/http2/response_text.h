// Fields of an HTTP/2 response to the text of HTTP/1.1, for the one strict parser that reads all responses. The mirror
// image of request_text.h: each part is checked before it is written, and the end of the body is decided here, from the
// stream, never from what the backend says of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/buffer.h"
#include "net/http1/head.h"

namespace edge::net::http2 {

/// Composes one head at a time: the header blocks of a connection never interleave (RFC 9113 §4.3).
class ResponseText {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kMalformed,  ///< RFC 9113 §8.1.1: a stream error
    kTooLarge,   ///< of one head, or of heads that nobody has read yet
  };

  explicit ResponseText(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// A new head, to be appended to `out`. `accept`: it answers an extended CONNECT (RFC 8441 §5), and a 2xx becomes the
  /// 101 that proves to have read the client's key; null: it does not.
  void begin(Buffer& out, const std::string* accept);
  /// The next field, in the order of the block.
  Fault add(std::string_view name, std::string_view value);
  /// No field follows. `end_of_stream`: no DATA follows either.
  Fault finish(bool end_of_stream, http1::Method method);
  /// 1xx: another head follows.
  bool interim() const { return status_ < 200; }
  /// The body that follows has to be put into chunks.
  bool chunked() const { return chunked_; }

 private:
  Fault add_status(std::string_view value);
  /// It agrees to a tunnel: what follows are its bytes.
  bool switches() const { return accept_ != nullptr && status_ / 100 == 2; }

  const std::size_t max_bytes_;
  Buffer* out_ = nullptr;
  const std::string* accept_ = nullptr;
  std::size_t written_ = 0;
  /// What the block came to so far, dropped fields included.
  std::size_t decoded_ = 0;
  int status_ = 0;
  /// What the backend announces of the body, written once all fields are known.
  std::optional<std::uint64_t> length_;
  bool has_trailers_ = false;
  bool chunked_ = false;
};

}  // namespace edge::net::http2
