#include "runtime/shape/body_writer.h"

#include <array>
#include <cstring>

#include "net/http1/chunked.h"

namespace edge::runtime {

namespace {

/// To copy less than this is cheaper than a system call for it.
constexpr std::size_t kSmall = 4096;

}  // namespace

using Until = Encoder::Until;

BodyWriter::Result BodyWriter::write(Turn& turn, std::string_view data) {
  if (data.empty()) return Result::kTaken;
  if (codes()) return encode(turn, data, prompt_ ? Until::kFlush : Until::kMore, {});
  if (data.size() < kSmall && data.size() <= turn.area.size() - turn.gathered) {
    std::memcpy(turn.area.data() + turn.gathered, data.data(), data.size());
    turn.gathered += data.size();
    return Result::kTaken;
  }
  if (turn.gathered != 0) {
    const Result sent = send_gathered(turn, nullptr);
    if (sent != Result::kTaken) return sent;
  }
  return send(turn, data, nullptr);
}

BodyWriter::Result BodyWriter::end_turn(Turn& turn) {
  return turn.gathered == 0 && turn.head.empty() ? Result::kTaken : send_gathered(turn, nullptr);
}

BodyWriter::Result BodyWriter::send_gathered(Turn& turn, const std::string_view* trailers) {
  const std::string_view data(turn.area.data(), turn.gathered);
  turn.gathered = 0;
  return send(turn, data, trailers);
}

BodyWriter::Result BodyWriter::flush(Turn& turn) {
  return codes() && keeps_back_ ? encode(turn, {}, Until::kFlush, {}) : Result::kTaken;
}

BodyWriter::Result BodyWriter::end(Turn& turn, std::string_view trailers) {
  return codes() ? encode(turn, {}, Until::kEnd, trailers) : send_gathered(turn, &trailers);
}

BodyWriter::Result BodyWriter::encode(Turn& turn, std::string_view data, Until until, std::string_view trailers) {
  keeps_back_ = until == Until::kMore;
  for (;;) {
    const Encoder::Step step = encoder_->step(data, until, turn.area);
    if (step.failed) return Result::kEncoderFailed;
    data.remove_prefix(step.taken);
    const bool last = step.done && until == Until::kEnd;
    if (step.made != 0 || last) {
      const Result sent = send(turn, {turn.area.data(), step.made}, last ? &trailers : nullptr);
      if (sent != Result::kTaken) return sent;
    }
    if (step.done) return Result::kTaken;
  }
}

// Head, data and the end of the body, as far as they are there, in one piece.
BodyWriter::Result BodyWriter::send(Turn& turn, std::string_view data, const std::string_view* trailers) {
  std::array<iovec, 7> pieces;
  std::size_t count = 0;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) pieces[count++] = net::piece(text);
  };
  char chunk_head[net::http1::kMaxChunkHead];
  add(turn.head);
  turn.head = {};
  if (out_ == BodyOut::kChunked) {
    if (!data.empty()) {
      add({chunk_head, net::http1::write_chunk_head(data.size(), chunk_head)});
      add(data);
      add(net::http1::kChunkEnd);
    }
    if (trailers != nullptr) {
      add(net::http1::kLastChunkLine);
      add(*trailers);
      add(net::http1::kChunkEnd);
    }
  } else {
    add(data);
  }
  if (count == 0) return Result::kTaken;
  body_sent_ += data.size();
  return turn.outlet.send(turn.channel, {pieces.data(), count}) ? Result::kTaken : Result::kClientGone;
}

}  // namespace edge::runtime
