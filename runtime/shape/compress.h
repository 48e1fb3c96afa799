// Bodies to gzip and brotli, as they come. Rule D6.
//
// A stream's memory is bounded: about 270 KiB for gzip, whatever the body; brotli by its window, which is kept small. A
// thread has so many streams under way at most; a response beyond that goes uncompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "program/format/format.h"

namespace edge::runtime {

/// One body on its way through an encoder.
class Encoder {
 public:
  enum class Until : std::uint8_t {
    kMore,   ///< input may be kept back
    kFlush,  ///< all that was taken so far comes out
    kEnd,    ///< the same, and the stream ends
  };
  struct Step {
    std::size_t taken = 0;
    std::size_t made = 0;
    /// All input was taken, and what was asked for has come out. Else call again, with the rest and more room.
    bool done = false;
    bool failed = false;
  };

  /// With less room each call of zlib's flush would have one more marker to bring out, without end.
  static constexpr std::size_t kLeastRoom = 16;

  virtual ~Encoder() = default;
  /// `out` has at least kLeastRoom bytes. After kEnd was done the encoder has ended.
  virtual Step step(std::string_view in, Until until, std::span<char> out) = 0;

 protected:
  friend class EncoderPool;
  /// Makes it ready for another body; false: it can carry none.
  virtual bool reset() = 0;
};

/// The encoders of one thread. Must outlive what it lends.
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

  /// `level` as CompressionRecord has it. Null when too many are under way, or memory is short.
  Lease take(program::ContentCoding coding, std::uint32_t level);
  std::size_t under_way() const { return under_way_; }

 private:
  static constexpr std::size_t kKept = 8;

  void give_back(Encoder* encoder, std::uint32_t shelf);

  /// Unused gzip encoders, by level. A brotli encoder cannot be used twice.
  std::vector<std::vector<std::unique_ptr<Encoder>>> shelves_;
  std::size_t under_way_ = 0;
};

/// The token for Content-Encoding.
std::string_view coding_token(program::ContentCoding coding);

}  // namespace edge::runtime
