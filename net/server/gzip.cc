#include "net/server/gzip.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include <zlib.h>

#include "base/owned.h"
#include "base/text/ascii.h"

namespace edge::net::server {
namespace {

/// With a gzip header around it, and the largest window.
constexpr int kGzipWindow = 15 + 16;
/// Lists are text that repeats itself: the fastest level takes most of what there is to take.
constexpr int kLevel = 1;
constexpr int kMemory = 8;
constexpr std::size_t kOutPiece = std::size_t{16} << 10;
constexpr std::size_t kExpectedRatio = 16;

bool weighs_nothing(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  if (at == std::string_view::npos) return false;
  const std::string_view weight = trim_blanks(parameters.substr(at + 2));
  return weight.starts_with('0') && weight.find_first_of("123456789") == std::string_view::npos;
}

bool is_coded(const Reply& reply) {
  return std::ranges::any_of(reply.fields,
                             [](const auto& field) { return equals_ignoring_case(field.first, "content-encoding"); });
}

/// Compresses the pieces of another source, one at a time: neither body is ever in memory completely.
class GzipSource final : public BodySource {
 public:
  explicit GzipSource(std::unique_ptr<BodySource> source) : source_(std::move(source)) {}
  ~GzipSource() override { ::deflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  bool begin() {
    return ::deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  std::unique_ptr<BodySource> give_back() { return std::move(source_); }

  Next next(std::string& out) override {
    piece_.clear();
    const Next next = source_->next(piece_);
    stream_.next_in = reinterpret_cast<Bytef*>(piece_.data());
    stream_.avail_in = static_cast<uInt>(piece_.size());
    // Who waits for more is to have what there is: a buffer in between would keep it.
    const int flush = next == Next::kEnd ? Z_FINISH : next == Next::kNothingYet ? Z_SYNC_FLUSH : Z_NO_FLUSH;
    do {
      const std::size_t made = out.size();
      out.resize(made + kOutPiece);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + made);
      stream_.avail_out = static_cast<uInt>(kOutPiece);
      ::deflate(&stream_, flush);
      out.resize(out.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return next;
  }
  void on_ready(std::function<void()> ready) override { source_->on_ready(std::move(ready)); }
  bool is_endless() const override { return source_->is_endless(); }

 private:
  std::unique_ptr<BodySource> source_;
  std::string piece_;
  z_stream stream_{};
};

void compress_stream(Reply& reply) {
  auto compressed = std::make_unique<GzipSource>(std::move(reply.stream));
  reply.fields.emplace_back("Vary", "Accept-Encoding");
  if (!compressed->begin()) {
    reply.stream = compressed->give_back();
    return;
  }
  reply.stream = std::move(compressed);
  reply.stream_size.reset();
  reply.fields.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

bool takes_gzip(std::string_view accept_encoding) {
  bool any = false;
  while (!accept_encoding.empty()) {
    const std::size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view one = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const std::size_t semicolon = std::min(one.find(';'), one.size());
    const std::string_view coding = trim_blanks(one.substr(0, semicolon));
    const bool wanted = !weighs_nothing(one.substr(semicolon));
    if (equals_ignoring_case(coding, "gzip")) return wanted;
    if (coding == "*") any = wanted;
  }
  return any;
}

void compress(Reply& reply) {
  if (is_coded(reply) || reply.body.size() > std::numeric_limits<uInt>::max()) return;
  if (reply.stream != nullptr) return compress_stream(reply);
  z_stream stream{};
  if (::deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return;
  stream.next_in = reinterpret_cast<Bytef*>(reply.body.data());
  stream.avail_in = static_cast<uInt>(reply.body.size());
  // Room for what is to be expected; twice as much when that is too little; and no more than there is without a coding.
  std::string out;
  bool whole = false;
  while (!whole && out.size() < reply.body.size()) {
    const std::size_t made = out.size();
    out.resize(std::min(std::max(reply.body.size() / kExpectedRatio + kOutPiece, 2 * made), reply.body.size()));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(out.size() - made);
    whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  }
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  reply.fields.emplace_back("Vary", "Accept-Encoding");
  if (!whole) return;
  reply.body = std::move(out);
  reply.fields.emplace_back("Content-Encoding", "gzip");
}

Result<std::string> decompress(std::string_view body, std::size_t limit) {
  const Error malformed{ErrorCode::kInvalidArgument, "the body is no gzip"};
  if (body.size() > std::numeric_limits<uInt>::max()) return Error{ErrorCode::kResourceExhausted, "too large"};
  z_stream stream{};
  if (::inflateInit2(&stream, kGzipWindow) != Z_OK) return Error{ErrorCode::kResourceExhausted, "no memory"};
  const Owned<z_stream, ::inflateEnd> end(&stream);
  // zlib's type of input is not const; it does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::string out;
  char piece[kOutPiece];
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    state = ::inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) return malformed;
    const std::size_t made = sizeof piece - stream.avail_out;
    if (made > limit - out.size()) return Error{ErrorCode::kResourceExhausted, "the body holds too much"};
    out.append(piece, made);
  }
  if (stream.avail_in != 0) return malformed;
  return out;
}

}  // namespace edge::net::server
