// Tracks the streams that a client has opened, to distinguish a late stream id from a closed stream.
#pragma once

#include <cstdint>

namespace edge::net::http2 {

/// Ids of new streams increase (RFC 9113 §5.1.1). HEADERS with a smaller id are trailers of a stream that may have been
/// closed meanwhile, or an error. Remembers the last 64; an older one may be late.
class StreamIds {
 public:
  /// Called for HEADERS on `id`. \returns false when the id was skipped, and can never be opened.
  bool take(std::int64_t id) {
    if (id > last_) {
      const std::int64_t ahead = (id - last_) / 2;
      seen_ = ahead < 64 ? seen_ << ahead | 1 : 1;
      last_ = id;
      return true;
    }
    const std::int64_t behind = (last_ - id) / 2;
    return behind >= 64 || (seen_ >> behind & 1) != 0;
  }

 private:
  std::int64_t last_ = -1;
  std::uint64_t seen_ = 0;
};

}  // namespace edge::net::http2
