// Streaming compression of bodies with gzip and brotli (rule D6).
//
// The memory of a stream is bounded: about 270 KiB for gzip; for brotli by its window, which is kept small. The number
// of concurrent streams per thread is bounded; a response beyond it is sent uncompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "program/format/format.h"

namespace edge::runtime {

/// The encoder of one body.
class Encoder {
 public:
  enum class Until : std::uint8_t {
    kMore,   ///< the encoder may buffer input
    kFlush,  ///< all input so far is output
    kEnd,    ///< as kFlush, and the stream ends
  };
  struct Step {
    std::size_t taken = 0;
    std::size_t made = 0;
    /// All input was consumed, and all requested output was written. Else call again, with the rest of the input and
    /// new space.
    bool done = false;
    bool failed = false;
  };

  /// The least output space: with less, each flush of zlib would leave one more marker to write, endlessly.
  static constexpr std::size_t kLeastRoom = 16;

  virtual ~Encoder() = default;
  /// Encodes some input. `out` has at least kLeastRoom bytes. After kEnd was done the encoder has ended.
  virtual Step step(std::string_view in, Until until, std::span<char> out) = 0;

 protected:
  friend class EncoderPool;
  /// Resets the encoder for another body; false: it cannot be reused.
  virtual bool reset() = 0;
};

/// The encoders of one thread. Must outlive its leases.
class EncoderPool {
 public:
  static constexpr std::size_t kMostUnderWay = 256;

  struct Return {
    EncoderPool* pool = nullptr;
    std::uint32_t shelf = 0;
    void operator()(Encoder* encoder) const { pool->give_back(encoder, shelf); }
  };
  using Lease = std::unique_ptr<Encoder, Return>;

  EncoderPool() = default;
  EncoderPool(const EncoderPool&) = delete;
  EncoderPool& operator=(const EncoderPool&) = delete;

  /// Leases an encoder; `level` as in CompressionRecord. Null when too many are leased, or memory is short.
  Lease take(program::ContentCoding coding, std::uint32_t level);
  std::size_t under_way() const { return under_way_; }

 private:
  static constexpr std::size_t kKept = 8;

  void give_back(Encoder* encoder, std::uint32_t shelf);

  /// Unused gzip encoders, by level. A brotli encoder cannot be reused.
  std::vector<std::vector<std::unique_ptr<Encoder>>> shelves_;
  std::size_t under_way_ = 0;
};

/// Returns the token for Content-Encoding.
std::string_view coding_token(program::ContentCoding coding);

}  // namespace edge::runtime
