// Fields of an HTTP/2 request to the text of HTTP/1.1, for the one strict parser that reads all requests.
//
// What could split a request or smuggle one never becomes text: each part is checked before it is written, and the end
// of the body is decided here, from the stream, never from what the client says of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/buffer.h"

namespace edge::net::http2 {

/// What the text says of the body that follows it.
enum class BodyForm : std::uint8_t {
  kNone,     ///< the stream ended with the fields
  kLength,   ///< as announced; whoever feeds the stream holds it against DATA (RFC 9113 §8.1.1)
  kChunked,  ///< until END_STREAM, with room for trailers behind it
  kRaw,      ///< bytes of a tunnel (RFC 8441)
};

/// Composes one head at a time: the header blocks of a connection never interleave (RFC 9113 §4.3).
class RequestText {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kMalformed,  ///< RFC 9113 §8.1.1: a stream error
    kBomb,       ///< fields far over any limit: a connection error
  };

  /// Heads over `max_bytes` are cut off, so that the parser refuses them: 431. `seed` is for the keys of WebSockets.
  RequestText(std::size_t max_bytes, std::uint64_t seed) : max_bytes_(max_bytes), seed_(seed) {}

  /// A new head, to be written to `out`, which must be empty.
  void begin(Buffer& out);
  /// The next field, in the order of the block.
  Fault add(std::string_view name, std::string_view value);
  /// No field follows. `end_of_stream`: no DATA follows either.
  Fault finish(bool end_of_stream);
  BodyForm body() const { return body_; }
  /// The response will have no body, whatever it says of one.
  bool head_only() const { return head_only_; }

 private:
  /// A pseudo-field's value, in pseudo_.
  struct Part {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
    bool given = false;
  };

  Fault add_pseudo(std::string_view name, std::string_view value);
  Fault begin_fields();
  Fault begin_connect();
  void write_web_socket_key();
  void add_cookie(std::string_view value);
  void line(std::string_view name, std::string_view value);
  void line(std::string_view name, std::uint64_t number);
  void write(std::string_view text);
  std::string_view text(const Part& part) const { return pseudo_.view().substr(part.begin, part.size); }

  const std::size_t max_bytes_;
  std::uint64_t seed_;
  Buffer* out_ = nullptr;
  Buffer pseudo_;
  Buffer cookie_;
  /// What the client announces of the body, written once all fields are known.
  std::optional<std::uint64_t> length_;
  Part method_;
  Part scheme_;
  Part authority_;
  Part path_;
  Part protocol_;
  /// What the block came to so far, as RFC 9113 §6.5.2 counts it.
  std::size_t decoded_ = 0;
  bool in_fields_ = false;
  bool has_host_ = false;
  bool has_trailers_ = false;
  bool cut_off_ = false;
  bool head_only_ = false;
  BodyForm body_ = BodyForm::kNone;
};

}  // namespace edge::net::http2
