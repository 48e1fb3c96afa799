// Any Accept-Encoding, and any body, level and tearing: the coding that is chosen is one that was named, or `*`; what
// is coded decodes to what went in, and a flush brings out all of it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/shape/accept_encoding.h"
#include "runtime/shape/compress.h"
#include "tests/fuzz/require.h"
#include "tests/support/coding.h"

namespace {

using edge::program::ContentCoding;
using edge::runtime::AcceptedCodings;
using edge::runtime::Encoder;
using edge::runtime::EncoderPool;

void encode(Encoder& encoder, std::string_view in, Encoder::Until until, std::vector<char>& room, std::string& out) {
  for (;;) {
    const Encoder::Step step = encoder.step(in, until, room);
    require(!step.failed && step.taken <= in.size() && step.made <= room.size());
    require(step.done || step.taken != 0 || step.made != 0);
    out.append(room.data(), step.made);
    in.remove_prefix(step.taken);
    if (step.done) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::uint32_t level = data[0] % 10;
  const std::size_t piece = 1 + data[1] % 64;
  const bool flushes = (data[2] & 1) != 0;
  std::vector<char> room(Encoder::kLeastRoom + data[3] * std::size_t{4});
  const std::string_view text(reinterpret_cast<const char*>(data + 4), size - 4);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view field = text.substr(0, line);
  const std::string_view body = text.substr(std::min(line + 1, text.size()));

  AcceptedCodings accepted;
  accepted.add(field);
  const ContentCoding both[] = {ContentCoding::kGzip, ContentCoding::kBrotli};
  const auto coding = edge::runtime::choose_coding(both, accepted);
  if (!coding) return 0;
  require(accepted.weight(*coding) > 0);
  require(field.find('*') != std::string_view::npos || field.find_first_of("bBgGxX") != std::string_view::npos);

  EncoderPool pool;
  // Twice, so that an encoder that was used serves again.
  for (int round = 0; round < 2; ++round) {
    const EncoderPool::Lease encoder = pool.take(*coding, level);
    require(encoder != nullptr);
    const std::string_view token = edge::runtime::coding_token(*coding);
    std::string out;
    for (std::size_t at = 0; at < body.size(); at += piece) {
      encode(*encoder, body.substr(at, piece), flushes ? Encoder::Until::kFlush : Encoder::Until::kMore, room, out);
    }
    if (flushes) {
      const auto known = edge::test::decode_content(token, out, false);
      require(known.ok() && *known == body);
    }
    encode(*encoder, {}, Encoder::Until::kEnd, room, out);
    const auto decoded = edge::test::decode_content(token, out, true);
    require(decoded.ok() && *decoded == body);
  }
  return 0;
}
