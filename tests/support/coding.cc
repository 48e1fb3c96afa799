#include "tests/support/coding.h"

#include <memory>

#include <brotli/decode.h>
#include <zlib.h>

namespace edge::test {
namespace {

constexpr std::size_t kRoom = 16384;

Error coding_failure(std::string text) { return Error{ErrorCode::kAborted, std::move(text)}; }

Result<std::string> gunzip(std::string_view bytes, bool whole) {
  z_stream stream{};
  if (::inflateInit2(&stream, 15 + 16) != Z_OK) return coding_failure("inflateInit2");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t before = out.size();
    out.resize(before + kRoom);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = kRoom;
    result = ::inflate(&stream, Z_SYNC_FLUSH);
    out.resize(before + kRoom - stream.avail_out);
  }
  const bool sound = result == Z_STREAM_END ? stream.avail_in == 0 : result == Z_BUF_ERROR && !whole;
  ::inflateEnd(&stream);
  if (!sound) return coding_failure("not gzip, or not its end");
  return out;
}

Result<std::string> unbrotli(std::string_view bytes, bool whole) {
  const std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)> state(
      ::BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), &::BrotliDecoderDestroyInstance);
  const auto* in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  std::string out;
  BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
  while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
    const std::size_t before = out.size();
    out.resize(before + kRoom);
    auto* at = reinterpret_cast<std::uint8_t*>(out.data() + before);
    std::size_t space = kRoom;
    result = ::BrotliDecoderDecompressStream(state.get(), &left, &in, &space, &at, nullptr);
    out.resize(before + kRoom - space);
  }
  const bool sound =
      result == BROTLI_DECODER_RESULT_SUCCESS ? left == 0 : result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !whole;
  if (!sound) return coding_failure("not brotli, or not its end");
  return out;
}

}  // namespace

Result<std::string> decode_content(std::string_view coding, std::string_view bytes, bool whole) {
  if (coding == "gzip") return gunzip(bytes, whole);
  if (coding == "br") return unbrotli(bytes, whole);
  return std::string(bytes);
}

}  // namespace edge::test
