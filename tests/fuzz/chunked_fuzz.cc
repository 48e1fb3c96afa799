// Any bytes as a chunked body: torn anywhere it decodes to the same, and the framing that is handed on decodes to the
// same body again.
#include <cstdint>
#include <memory>
#include <string>

#include "net/http1/chunked.h"
#include "tests/fuzz/require.h"

namespace {

using edge::net::http1::ChunkedDecoder;
using State = ChunkedDecoder::State;

struct Decoded {
  State state = State::kMore;
  std::size_t consumed = 0;
  std::string data;
  std::string trailer;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

template <typename Take>
Decoded run(std::string_view text, std::size_t piece, Take take) {
  ChunkedDecoder decoder;
  Decoded out;
  while (out.consumed < text.size() && out.state == State::kMore) {
    const ChunkedDecoder::Step step = take(decoder, text.substr(out.consumed, piece));
    require(step.consumed > 0 && step.data.size() <= step.consumed);
    out.state = step.state;
    out.consumed += step.consumed;
    out.data += step.data;
  }
  out.trailer = decoder.trailer_lines();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t piece = 1 + data[0] % 16;
  const auto bytes = std::make_unique<char[]>(size - 1);
  std::copy(data + 1, data + size, bytes.get());
  const std::string_view text(bytes.get(), size - 1);

  const auto next = [](ChunkedDecoder& d, std::string_view s) { return d.next(s); };
  const auto forward = [](ChunkedDecoder& d, std::string_view s) { return d.forward(s); };
  const Decoded whole = run(text, text.size(), next);
  const Decoded torn = run(text, piece, next);
  require(whole.state == torn.state);
  if (whole.state == State::kFault) return 0;
  require(whole == torn);

  const Decoded passed = run(text, piece, forward);
  require(passed.state == whole.state && passed.consumed == whole.consumed && passed.trailer == whole.trailer);
  const Decoded again = run(passed.data + (whole.state == State::kEnd ? passed.trailer + "\r\n" : ""), 4096, next);
  require(again.state == whole.state && again.data == whole.data);
  require(whole.state != State::kEnd || again.trailer == whole.trailer);
  return 0;
}
