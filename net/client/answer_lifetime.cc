#include "net/client/answer_lifetime.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace edge::net::client {
namespace {

/// Parses the fixed parts of a message.
class RecordReader {
 public:
  explicit RecordReader(std::span<const unsigned char> message) : message_(message) {}

  /// The least lifetime of the records of the answer; 0 where the message is none.
  std::chrono::seconds least_lifetime() {
    if (message_.size() < kHeader) return {};
    const std::size_t questions = number16(4);
    const std::size_t answers = std::min<std::size_t>(number16(6), kMostRecords);
    at_ = kHeader;
    for (std::size_t n = 0; n < questions; ++n) {
      if (!skip_name() || !skip(4)) return {};
    }
    std::uint32_t least = std::numeric_limits<std::int32_t>::max();
    for (std::size_t n = 0; n < answers; ++n) {
      if (!skip_name() || message_.size() - at_ < kRecord) return {};
      least = std::min(least, std::uint32_t{number16(at_ + 4)} << 16 | number16(at_ + 6));
      if (!skip(kRecord + number16(at_ + 8))) return {};
    }
    return std::chrono::seconds(least);
  }

 private:
  static constexpr std::size_t kHeader = 12;
  static constexpr std::size_t kRecord = 10;  ///< type, class, lifetime, length of the data
  static constexpr unsigned char kLongestLabel = 63;
  static constexpr unsigned char kPointer = 0xc0;

  std::uint16_t number16(std::size_t at) const {
    return static_cast<std::uint16_t>(message_[at] << 8 | message_[at + 1]);
  }
  bool skip(std::size_t bytes) {
    if (message_.size() - at_ < bytes) return false;
    at_ += bytes;
    return true;
  }
  /// Labels, each behind its length, until an empty one or a pointer (RFC 1035 §4.1.4).
  bool skip_name() {
    while (at_ < message_.size()) {
      const unsigned char length = message_[at_];
      if (length == 0) return skip(1);
      if (length >= kPointer) return skip(2);
      if (length > kLongestLabel || !skip(std::size_t{1} + length)) return false;
    }
    return false;
  }

  std::span<const unsigned char> message_;
  std::size_t at_ = 0;
};

}  // namespace

std::chrono::seconds least_lifetime(std::span<const unsigned char> message) {
  return RecordReader(message).least_lifetime();
}

}  // namespace edge::net::client
