// The output buffer of one call of `produce`: nghttp2's frames are copied to it, DATA is written directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

struct nghttp2_session;

namespace edge::net::http2 {

class FrameOutput {
 public:
  /// Lets the session write frames to `out`, which has at least 32 KiB, until there are none, or no room. \returns
  /// their size. Sets `failed` when the session cannot continue.
  std::size_t produce(nghttp2_session* session, std::span<char> out, bool& failed);
  /// Writes a DATA frame, from within `produce`. \returns false when it must wait for the next call.
  bool write_data(const std::uint8_t* head, std::string_view data);

 private:
  std::span<char> out_;
  std::size_t used_ = 0;
};

}  // namespace edge::net::http2
