// How much a peer may cost without being of use: buckets that time fills slowly and real work quickly.
#pragma once

#include <algorithm>
#include <cstddef>

#include "net/clock.h"

namespace edge::net::http2 {

/// PINGs, SETTINGS, empty DATA, PRIORITY, WINDOW_UPDATE: each is good for something, and a flood of it is not. What is
/// sent to the peer, or comes from it, pays for many of them, so that the bookkeeping of a busy connection never
/// counts.
///
/// Streams that are reset (CVE-2023-44487), or that we are made to reset (CVE-2025-8671), have a bucket of their own,
/// which nothing fills but streams that come to their end: their frames are no reason to begin more of them.
class Patience {
 public:
  static constexpr unsigned kMost = 1000;
  static constexpr unsigned kPerSecond = 50;
  static constexpr unsigned kReset = 4;
  /// A stream that came to its end pays for half of one that did not.
  static constexpr unsigned kCompleted = 2;
  /// Bytes of DATA that pay for a frame without any.
  static constexpr std::size_t kBytesAFrame = 1024;
  /// Bytes of decoded fields that cost as much as a frame: HPACK makes many of few.
  static constexpr std::size_t kDecodedAFrame = std::size_t{8} * 1024;

  explicit Patience(Time now) : filled_at_(now) {}

  /// \returns false when there is none left.
  bool spend(unsigned cost, Time now) {
    if (left_ < cost) refill(now);
    if (left_ < cost) return false;
    left_ -= cost;
    return true;
  }
  void earn(unsigned value) { left_ = std::min(left_ + value, kMost); }
  /// DATA was received. Counted by its bytes: a frame of one byte is as cheap to send as an empty one.
  void earn_bytes(std::size_t size) {
    bytes_ += size;
    earn(static_cast<unsigned>(bytes_ / kBytesAFrame));
    bytes_ %= kBytesAFrame;
  }
  /// A frame of DATA was sent; `rest` waits behind it. It pays for the PING and the WINDOW_UPDATEs that it may be
  /// answered with, unless it is small for no other reason than that the peer opens windows by single bytes
  /// (CVE-2019-9511).
  void earn_sent(std::size_t size, bool rest) {
    if (!rest || size >= kBytesAFrame) earn(4);
  }

 private:
  void refill(Time now) {
    const auto seconds = std::chrono::duration<double>(now - filled_at_).count();
    filled_at_ = now;
    earn(static_cast<unsigned>(std::min(seconds * kPerSecond, double{kMost})));
  }

  unsigned left_ = kMost;
  std::size_t bytes_ = 0;
  Time filled_at_;
};

}  // namespace edge::net::http2
