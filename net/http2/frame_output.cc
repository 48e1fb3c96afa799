#include "net/http2/frame_output.h"

#include <cstring>

#include "net/http2/nghttp2.h"

namespace edge::net::http2 {
namespace {

constexpr std::size_t kFrameHead = 9;
/// Any piece that nghttp2 gives but DATA.
constexpr std::size_t kLargestPiece = std::size_t{17} * 1024;

}  // namespace

std::size_t FrameOutput::produce(nghttp2_session* session, std::span<char> out, bool& failed) {
  out_ = out;
  used_ = 0;
  while (out_.size() - used_ > kLargestPiece) {
    const std::uint8_t* piece = nullptr;
    const auto size = nghttp2_session_mem_send(session, &piece);
    if (size <= 0) {
      failed = failed || size < 0;
      break;
    }
    std::memcpy(out_.data() + used_, piece, static_cast<std::size_t>(size));
    used_ += static_cast<std::size_t>(size);
  }
  out_ = {};
  return used_;
}

// Behind it stays room for what nghttp2 may hand out next in the same call.
bool FrameOutput::write_data(const std::uint8_t* head, std::string_view data) {
  if (out_.size() - used_ < kFrameHead + data.size() + kLargestPiece) return false;
  char* const to = out_.data() + used_;
  std::memcpy(to, head, kFrameHead);
  if (!data.empty()) std::memcpy(to + kFrameHead, data.data(), data.size());
  used_ += kFrameHead + data.size();
  return true;
}

}  // namespace edge::net::http2
