// Where a connection's frames are written to, one call of `produce` at a time: what nghttp2 hands out is copied, DATA
// is put there at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

struct nghttp2_session;

namespace edge::net::http2 {

class FrameOutput {
 public:
  /// Has the session write frames to `out`, at least 32 KiB, until it has none, or there is no room. \returns their
  /// size. `failed` is set when the session cannot go on.
  std::size_t produce(nghttp2_session* session, std::span<char> out, bool& failed);
  /// A frame of DATA, from within `produce`. \returns false when it has to wait for the next one.
  bool write_data(const std::uint8_t* head, std::string_view data);

 private:
  std::span<char> out_;
  std::size_t used_ = 0;
};

}  // namespace edge::net::http2
