// Request ids: UUIDv7 (RFC 9562 §5.7), so that they sort by time. For correlation, not secret.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace edge::runtime {

/// A fast generator for one thread (wyrand), seeded by the system.
class Random {
 public:
  Random();
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();

 private:
  std::uint64_t state_;
};

/// A request id: generated here, or sent by a trusted peer.
class RequestId {
 public:
  static constexpr std::size_t kMaxSize = 64;

  std::string_view text() const { return {text_.data(), size_}; }
  void generate(std::uint64_t unix_milliseconds, Random& random);
  /// Uses an id from a peer. \returns false for one that is empty, longer than kMaxSize or not visible ASCII; then
  /// nothing changed.
  bool keep(std::string_view incoming);

 private:
  std::uint8_t size_ = 0;
  std::array<char, kMaxSize> text_;
};

}  // namespace edge::runtime
