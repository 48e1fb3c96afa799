// Converts an HTTP/2 request to HTTP/1.1 text, for the strict parser that all requests pass.
//
// Prevents request splitting and smuggling: each part is validated before it is written, and the end of the body is
// determined from the stream, never from the client's fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/buffer.h"

namespace edge::net::http2 {

/// How the text frames the body that follows.
enum class BodyForm : std::uint8_t {
  kNone,     ///< the stream ended with the fields
  kLength,   ///< the announced length; the caller compares it with DATA (RFC 9113 §8.1.1)
  kChunked,  ///< until END_STREAM, with trailers allowed
  kRaw,      ///< bytes of a tunnel (RFC 8441, RFC 9113 §8.5)
};

/// Composes one head at a time: field blocks of a connection never interleave (RFC 9113 §4.3).
class RequestText {
 public:
  enum class Fault : std::uint8_t {
    kNone,
    kMalformed,  ///< RFC 9113 §8.1.1: a stream error
    kBomb,       ///< fields far above any limit: a connection error
  };

  /// Heads over `max_bytes` are cut, so that the parser rejects them: 431. `seed` is for WebSocket keys.
  RequestText(std::size_t max_bytes, std::uint64_t seed) : max_bytes_(max_bytes), seed_(seed) {}

  /// A CONNECT becomes an upgrade to a tunnel of TCP (tcp_tunnel.h); else the parser refuses it.
  void take_connect() { takes_connect_ = true; }

  /// Begins a head, written to `out`, which must be empty.
  void begin(Buffer& out);
  /// Adds the next field, in the order of the block.
  Fault add(std::string_view name, std::string_view value);
  /// Ends the head. `end_of_stream`: no DATA follows either.
  Fault finish(bool end_of_stream);
  BodyForm body() const { return body_; }
  /// Returns whether the response will have no body, whatever its fields say.
  bool head_only() const { return head_only_; }

 private:
  /// A pseudo-header field's value, in pseudo_.
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
  /// The announced length of the body, written once all fields are known.
  std::optional<std::uint64_t> length_;
  Part method_;
  Part scheme_;
  Part authority_;
  Part path_;
  Part protocol_;
  /// Size of the block so far, as counted by RFC 9113 §6.5.2.
  std::size_t decoded_ = 0;
  bool takes_connect_ = false;
  bool in_fields_ = false;
  bool has_host_ = false;
  bool has_trailers_ = false;
  bool cut_off_ = false;
  bool head_only_ = false;
  BodyForm body_ = BodyForm::kNone;
};

}  // namespace edge::net::http2
