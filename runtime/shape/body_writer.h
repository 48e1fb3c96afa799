// Writes a response body to the client when it is encoded or framed anew.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "net/byte_stream.h"
#include "runtime/shape/compress.h"
#include "runtime/shape/heads.h"

namespace edge::runtime {

class BodyWriter {
 public:
  enum class Result : std::uint8_t { kTaken, kClientGone, kEncoderFailed };

  /// Bytes left free behind a head that is in the area.
  static constexpr std::size_t kRoomBehindHead = 8192;

  /// What a session provides for one turn: where to write, and working memory for the turn's length.
  struct Turn {
    net::Channel& channel;
    net::Outlet& outlet;
    std::span<char> area;
    /// A composed head that was not sent yet: it is sent with the first bytes.
    std::string_view head;
    /// How many bytes of the area are small pieces gathered to be sent in one write.
    std::size_t gathered = 0;
  };

  /// Without an encoder bytes are sent unchanged, in chunks where `out` says so. `prompt`: the encoder keeps no input
  /// back.
  BodyWriter(BodyOut out, EncoderPool::Lease encoder, bool prompt)
      : encoder_(std::move(encoder)), out_(out), prompt_(prompt) {}

  Result write(Turn& turn, std::string_view data);
  /// Ends a turn: sends the gathered bytes, and the head even when nothing followed it.
  Result end_turn(Turn& turn);
  /// Sends what the encoder has buffered.
  Result flush(Turn& turn);
  /// Ends the body. `trailers` are lines, each with its CRLF; they are dropped where the body is not chunked.
  Result end(Turn& turn, std::string_view trailers);

  bool codes() const { return encoder_ != nullptr; }
  /// Whether the encoder has buffered input: the client would wait for it while the upstream is idle.
  bool keeps_back() const { return keeps_back_; }
  /// Returns the bytes of the body sent to the client, after encoding, without framing.
  std::uint64_t body_sent() const { return body_sent_; }

 private:
  Result send_gathered(Turn& turn, const std::string_view* trailers);
  Result encode(Turn& turn, std::string_view data, Encoder::Until until, std::string_view trailers);
  Result send(Turn& turn, std::string_view data, const std::string_view* trailers);

  EncoderPool::Lease encoder_;
  std::uint64_t body_sent_ = 0;
  BodyOut out_;
  bool prompt_;
  bool keeps_back_ = false;
};

}  // namespace edge::runtime
