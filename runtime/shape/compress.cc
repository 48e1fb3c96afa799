#include "runtime/shape/compress.h"

#include <algorithm>

#include <brotli/encode.h>
#include <zlib.h>

namespace edge::runtime {
namespace {

using program::ContentCoding;

/// 2^15 bytes are seen back, and the header and trailer are gzip's (RFC 1952).
constexpr int kGzipWindow = 15 + 16;
constexpr int kGzipMemory = 8;
/// A larger window gains little on what a proxy carries, and costs memory for each response.
constexpr std::uint32_t kBrotliWindow = 18;
constexpr std::uint32_t kBrotliShelf = ~std::uint32_t{0};

class GzipEncoder final : public Encoder {
 public:
  explicit GzipEncoder(int level)
      : ready_(::deflateInit2(&stream_, level, Z_DEFLATED, kGzipWindow, kGzipMemory, Z_DEFAULT_STRATEGY) == Z_OK) {}
  ~GzipEncoder() override {
    if (ready_) ::deflateEnd(&stream_);
  }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;

  bool ready() const { return ready_; }

  Step step(std::string_view in, Until until, std::span<char> out) override {
    static constexpr int kFlush[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = ::deflate(&stream_, kFlush[static_cast<std::size_t>(until)]);
    Step step{in.size() - stream_.avail_in, out.size() - stream_.avail_out, false, false};
    // Z_BUF_ERROR: there was nothing to do, which is no fault.
    step.failed = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    step.done = until == Until::kEnd ? result == Z_STREAM_END : stream_.avail_in == 0 && stream_.avail_out != 0;
    return step;
  }

 private:
  bool reset() override { return ::deflateReset(&stream_) == Z_OK; }

  z_stream stream_{};
  bool ready_;
};

class BrotliEncoder final : public Encoder {
 public:
  explicit BrotliEncoder(std::uint32_t level) : state_(::BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)) {
    if (state_ == nullptr) return;
    ::BrotliEncoderSetParameter(state_, BROTLI_PARAM_QUALITY, level);
    ::BrotliEncoderSetParameter(state_, BROTLI_PARAM_LGWIN, kBrotliWindow);
  }
  ~BrotliEncoder() override {
    if (state_ != nullptr) ::BrotliEncoderDestroyInstance(state_);
  }
  BrotliEncoder(const BrotliEncoder&) = delete;
  BrotliEncoder& operator=(const BrotliEncoder&) = delete;

  bool ready() const { return state_ != nullptr; }

  Step step(std::string_view in, Until until, std::span<char> out) override {
    static constexpr BrotliEncoderOperation kOperation[] = {BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_FLUSH,
                                                            BROTLI_OPERATION_FINISH};
    auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    auto* next_out = reinterpret_cast<std::uint8_t*>(out.data());
    std::size_t left_in = in.size();
    std::size_t left_out = out.size();
    const bool sound = ::BrotliEncoderCompressStream(state_, kOperation[static_cast<std::size_t>(until)], &left_in,
                                                     &next_in, &left_out, &next_out, nullptr) == BROTLI_TRUE;
    Step step{in.size() - left_in, out.size() - left_out, false, !sound};
    const bool empty = ::BrotliEncoderHasMoreOutput(state_) == BROTLI_FALSE;
    step.done = until == Until::kEnd ? ::BrotliEncoderIsFinished(state_) == BROTLI_TRUE : left_in == 0 && empty;
    return step;
  }

 private:
  bool reset() override { return false; }

  BrotliEncoderState* state_;
};

template <typename Kind, typename Level>
std::unique_ptr<Encoder> make(Level level) {
  auto encoder = std::make_unique<Kind>(level);
  return encoder->ready() ? std::move(encoder) : nullptr;
}

}  // namespace

EncoderPool::Lease EncoderPool::take(ContentCoding coding, std::uint32_t level) {
  if (under_way_ >= kMostUnderWay) return nullptr;
  std::unique_ptr<Encoder> encoder;
  std::uint32_t shelf = kBrotliShelf;
  if (coding == ContentCoding::kBrotli) {
    encoder = make<BrotliEncoder>(std::min<std::uint32_t>(level, BROTLI_MAX_QUALITY));
  } else {
    // One level stands for both algorithms; gzip knows 1 to 9.
    shelf = std::clamp<std::uint32_t>(level, 1, 9);
    if (shelves_.size() <= shelf) shelves_.resize(shelf + 1);
    std::vector<std::unique_ptr<Encoder>>& unused = shelves_[shelf];
    if (unused.empty()) {
      encoder = make<GzipEncoder>(static_cast<int>(shelf));
    } else {
      encoder = std::move(unused.back());
      unused.pop_back();
    }
  }
  if (encoder == nullptr) return nullptr;
  ++under_way_;
  return Lease(encoder.release(), {this, shelf});
}

void EncoderPool::give_back(Encoder* encoder, std::uint32_t shelf) {
  std::unique_ptr<Encoder> owned(encoder);
  --under_way_;
  if (shelf == kBrotliShelf) return;
  std::vector<std::unique_ptr<Encoder>>& unused = shelves_[shelf];
  if (unused.size() < kKept && owned->reset()) unused.push_back(std::move(owned));
}

std::string_view coding_token(ContentCoding coding) { return coding == ContentCoding::kGzip ? "gzip" : "br"; }

}  // namespace edge::runtime
