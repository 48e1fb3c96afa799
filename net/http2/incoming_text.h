// What a stream has received and its session has not read yet, as HTTP/1.1 text: heads, body, trailers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/buffer.h"

namespace edge::net::http2 {

/// DATA is stored as received, and chunked when it is read, so that many small frames use no more memory than their
/// bytes.
class IncomingText {
 public:
  struct Taken {
    std::size_t text = 0;  ///< bytes written
    std::size_t data = 0;  ///< bytes of DATA among them, for which the window may be opened
  };

  /// The buffer for heads, complete ones only.
  Buffer& heads() { return text_; }
  /// Sets whether the body is chunked; without chunks trailers are dropped.
  void set_chunked(bool chunked) { chunked_ = chunked; }
  void add_data(std::string_view data) { data_.append(data); }
  /// Adds a trailer field. \returns false when it is malformed, or the section exceeds its limit.
  bool add_trailer(std::string_view name, std::string_view value);
  /// Marks the message complete.
  void end() { ended_ = true; }
  bool ended() const { return ended_; }

  /// Reads text. Nothing is returned only when nothing is available.
  Taken take(std::span<char> into);
  /// Drops unread data. \returns the bytes of DATA in it.
  std::size_t drop();

 private:
  std::size_t take_text(std::span<char> into);
  Taken take_data(std::span<char> into);

  Buffer text_;
  Buffer data_;
  std::unique_ptr<std::string> trailers_;
  /// Size of the trailer section, including dropped fields.
  std::uint32_t decoded_ = 0;
  bool chunked_ = false;
  bool ended_ = false;
  bool end_written_ = false;
};

}  // namespace edge::net::http2
