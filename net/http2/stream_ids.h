// Which streams a client has opened, so that one that it opens too late is told from one that is closed.
#pragma once

#include <cstdint>

namespace edge::net::http2 {

/// The identifiers of new streams grow (RFC 9113 §5.1.1). HEADERS on a smaller one are the trailers of a stream that
/// may have been closed meanwhile, or a fault. Remembers the last 64; what is older may be late.
class StreamIds {
 public:
  /// HEADERS came on `id`. \returns false when it was passed over, and can never be opened.
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
