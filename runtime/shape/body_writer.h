// The last step of a body's way to a client when it does not go as it came: coded, and framed anew.
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

  /// Left free behind a head that stands in the area.
  static constexpr std::size_t kRoomBehindHead = 8192;

  /// What one turn of a session lends: where bytes go, and working memory for as long as it lasts.
  struct Turn {
    net::Channel& channel;
    net::Outlet& outlet;
    std::span<char> area;
    /// A head that was composed and not sent yet: it goes out with the first bytes.
    std::string_view head;
    /// Of the area: small pieces that wait to go out as one.
    std::size_t gathered = 0;
  };

  /// Without an encoder bytes go as they are, in chunks where `out` says so. `prompt`: nothing is kept back.
  BodyWriter(BodyOut out, EncoderPool::Lease encoder, bool prompt)
      : encoder_(std::move(encoder)), out_(out), prompt_(prompt) {}

  Result write(Turn& turn, std::string_view data);
  /// Ends a turn: what waits is sent, the head even when nothing followed it.
  Result end_turn(Turn& turn);
  /// Brings out what the encoder keeps back.
  Result flush(Turn& turn);
  /// `trailers` as lines, each with its CRLF; they are lost where the body goes without chunks.
  Result end(Turn& turn, std::string_view trailers);

  bool codes() const { return encoder_ != nullptr; }
  /// Something went in that did not come out: the client would wait for it while the upstream rests.
  bool keeps_back() const { return keeps_back_; }
  /// Of the body as the client gets it, without framing.
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
