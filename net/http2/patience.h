// Limits how much a peer may cost without useful work: token buckets that refill slowly with time and quickly with
// work.
#pragma once

#include <algorithm>
#include <cstddef>

#include "net/clock.h"

namespace edge::net::http2 {

/// Control frames: PINGs, SETTINGS, empty DATA, PRIORITY, WINDOW_UPDATE, which are harmless except in floods.
/// Transferred data pays for many of them, so that the control frames of a busy connection never exhaust it.
///
/// Streams that the peer resets (CVE-2023-44487), or makes this side reset (CVE-2025-8671), have a bucket of their own,
/// refilled only by streams that complete: data is no reason to allow more of them.
class Patience {
 public:
  static constexpr unsigned kMost = 1000;
  static constexpr unsigned kPerSecond = 50;
  static constexpr unsigned kReset = 4;
  /// A completed stream pays for half of a reset one.
  static constexpr unsigned kCompleted = 2;
  /// Bytes of DATA that pay for one control frame.
  static constexpr std::size_t kBytesAFrame = 1024;
  /// Bytes of decoded fields that cost as much as a control frame: HPACK expands few bytes to many.
  static constexpr std::size_t kDecodedAFrame = std::size_t{8} * 1024;

  explicit Patience(Time now) : filled_at_(now) {}

  /// \returns false when the bucket is empty.
  bool spend(unsigned cost, Time now) {
    if (left_ < cost) refill(now);
    if (left_ < cost) return false;
    left_ -= cost;
    return true;
  }
  void earn(unsigned value) { left_ = std::min(left_ + value, kMost); }
  /// Called for received DATA. Counted by bytes: a frame of one byte is as cheap to send as an empty one.
  void earn_bytes(std::size_t size) {
    bytes_ += size;
    earn(static_cast<unsigned>(bytes_ / kBytesAFrame));
    bytes_ %= kBytesAFrame;
  }
  /// Called for a sent DATA frame; `rest` bytes wait behind it. It pays for the PING and WINDOW_UPDATEs that may answer
  /// it, unless it is small only because the peer opens windows by single bytes (CVE-2019-9511).
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
