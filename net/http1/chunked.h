// The chunked transfer coding (RFC 9112 §7.1): a strict incremental decoder, and parts of an encoder.
//
// Stricter than the RFC requires, on purpose: no whitespace around a chunk size, at most 16 digits, extensions of
// visible text within bounds, CRLF alone ends a line, no trailer field that has a meaning for framing, routing or
// authentication (§6.5.1 of RFC 9110).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace edge::net::http1 {

struct ChunkedLimits {
  /// Bytes of extensions in one size line, and below, in the whole body.
  std::uint32_t max_extension = 1024;
  std::uint32_t max_extensions = 16 * 1024;
  /// Bytes and fields of the trailer section.
  std::uint32_t max_trailer_bytes = 16 * 1024;
  std::uint32_t max_trailer_fields = 32;
};

/// Decodes one body from input split anywhere; buffers no data, and allocates only for a trailer section that is not
/// empty. Small enough for a coroutine frame.
class ChunkedDecoder {
 public:
  enum class State : std::uint8_t {
    kMore,   ///< all input was consumed; the body goes on
    kEnd,    ///< the body is complete; what follows `consumed` belongs to the next message
    kFault,  ///< malformed: close, forward nothing further
  };

  struct Step {
    State state = State::kMore;
    /// Bytes of the input consumed by this step.
    std::size_t consumed = 0;
    /// next(): a piece of the body, a view of the input. forward(): validated bytes to be sent unchanged.
    std::string_view data;
  };

  explicit ChunkedDecoder(const ChunkedLimits& limits = {});
  ~ChunkedDecoder();
  ChunkedDecoder(ChunkedDecoder&&) noexcept;
  ChunkedDecoder& operator=(ChunkedDecoder&&) noexcept;

  /// Decodes up to and including one piece of data: call it again with the rest while there is input and the state is
  /// kMore.
  Step next(std::string_view input);

  /// For a peer that is sent chunks too: validates the input up to the first extension and passes its framing on
  /// unchanged, up to the last chunk's size line. Extensions are dropped (RFC 9112 §7.1.1): call it again with the rest
  /// while there is input and the state is kMore. After kEnd the caller sends trailer_lines() and an empty line (CRLF).
  Step forward(std::string_view input);

  /// In forward(): whether the output ends after a chunk, or is empty, so that the last chunk may follow.
  bool between_chunks() const { return phase_ == Phase::kSizeStart; }

  /// After kEnd: returns the trailer fields as validated lines, each with its CRLF; mostly empty. Valid as long as the
  /// decoder.
  std::string_view trailer_lines() const;
  /// After kEnd: drops the trailer fields for which `keeps` returns false.
  void keep_trailers(const std::function<bool(std::string_view name)>& keeps);
  /// Returns the bytes of decoded body so far; in forward() too. For size limits: to be checked after each step, before
  /// sending.
  std::uint64_t body_bytes() const { return body_bytes_; }

 private:
  enum class Phase : std::uint8_t {
    // The line before a chunk.
    kSizeStart,
    kSize,
    kExtension,
    kSizeLineFeed,
    // The line end after a chunk.
    kDataReturn,
    kDataLineFeed,
    kData,
    // After the last chunk.
    kTrailerStart,
    kTrailerLine,
    kTrailerLineFeed,
    kFinalLineFeed,
    kEnd,
    kFault,
  };

  /// Each consumes its part of the coding and returns the bytes consumed.
  std::size_t take_size_line(std::string_view input);
  std::size_t pass_extension(std::string_view input);
  std::size_t take_data(std::size_t available);
  std::size_t take_trailer(std::string_view input);

  bool in_size_line() const { return phase_ < Phase::kData; }
  bool in_trailer() const { return phase_ >= Phase::kTrailerStart && phase_ < Phase::kEnd; }
  Phase after_size_byte(char c);
  Phase after_size_line() const;
  Phase after_trailer_byte(char c);
  bool trailer_valid() const;
  State state() const;

  Phase phase_ = Phase::kSizeStart;
  std::uint8_t digits_ = 0;
  std::uint32_t extension_ = 0;
  std::uint32_t extensions_ = 0;
  std::uint64_t remaining_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::unique_ptr<std::string> trailer_;
  ChunkedLimits limits_;
};

/// Writes `size` in hex and CRLF, which precede a chunk's data. Precondition: size > 0. \returns the bytes written.
inline constexpr std::size_t kMaxChunkHead = 18;
std::size_t write_chunk_head(std::uint64_t size, char (&out)[kMaxChunkHead]);
/// Follows each chunk's data.
inline constexpr std::string_view kChunkEnd = "\r\n";
/// The last chunk, its trailer section empty. With trailers: kLastChunkLine, the lines, kChunkEnd.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kLastChunkLine = "0\r\n";

}  // namespace edge::net::http1
