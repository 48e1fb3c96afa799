// What a stream has received and its session has not taken yet, to be read as text of HTTP/1.1: heads, body, trailers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/buffer.h"

namespace edge::net::http2 {

/// DATA is kept as it came, and put into chunks as it is taken: many small frames take no more room than they say.
class IncomingText {
 public:
  struct Taken {
    std::size_t text = 0;  ///< bytes written
    std::size_t data = 0;  ///< bytes of DATA among them, for which a window may be opened
  };

  /// Where heads are written to, complete ones alone.
  Buffer& heads() { return text_; }
  /// Whether the body is put into chunks; without them there is no place for trailers.
  void set_chunked(bool chunked) { chunked_ = chunked; }
  void add_data(std::string_view data) { data_.append(data); }
  /// \returns false when the field is malformed, or the section grows over its bound.
  bool add_trailer(std::string_view name, std::string_view value);
  /// The message is complete.
  void end() { ended_ = true; }
  bool ended() const { return ended_; }

  /// Nothing is taken only when nothing is there.
  Taken take(std::span<char> into);
  /// Forgets what nobody has taken. \returns the bytes of DATA among it.
  std::size_t drop();

 private:
  std::size_t take_text(std::span<char> into);
  Taken take_data(std::span<char> into);

  Buffer text_;
  Buffer data_;
  std::unique_ptr<std::string> trailers_;
  /// What the trailer section came to, dropped fields included.
  std::uint32_t decoded_ = 0;
  bool chunked_ = false;
  bool ended_ = false;
  bool end_written_ = false;
};

}  // namespace edge::net::http2
