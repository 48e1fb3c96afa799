// What a session has written of its message's body and the peer's windows have not let through yet. The mirror image of
// incoming_text.h.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include "net/buffer.h"

namespace edge::net::http2 {

/// Bounded on a stream and over all streams of its connection: a peer that opens many and reads none of them costs
/// little more than one that does so once.
class OutgoingBody {
 public:
  /// Over this, a stream's session waits. What it is about to send is taken whole below it, so that nothing is copied
  /// into a second queue.
  static constexpr std::size_t kEnough = std::size_t{16} * 1024;
  /// Over this of all streams, each of them holds kLeast at a time: slow, but none waits for another's reader.
  static constexpr std::size_t kEnoughOfAll = std::size_t{1024} * 1024;
  static constexpr std::size_t kLeast = std::size_t{4} * 1024;

  /// `of_all`: what the streams of the connection hold; it must live until `drop`.
  explicit OutgoingBody(std::size_t& of_all) : of_all_(&of_all) {}
  ~OutgoingBody() { drop(); }
  OutgoingBody(const OutgoingBody&) = delete;
  OutgoingBody& operator=(const OutgoingBody&) = delete;

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }
  std::string_view front(std::size_t size) const { return bytes_.view().substr(0, size); }

  /// As Layer::appetite: whoever gets 0 waits until `took` says so.
  std::size_t appetite() {
    const std::size_t most = room();
    waited_for_ |= most == 0;
    return most;
  }
  void append(std::string_view bytes) {
    bytes_.append(bytes);
    *of_all_ += bytes.size();
  }
  /// The first `size` bytes are on their way. \returns whether that makes room for a session that waits.
  bool took(std::size_t size) {
    bytes_.consume(size);
    *of_all_ -= size;
    if (bytes_.empty()) bytes_.release();
    if (!waited_for_ || room() == 0) return false;
    waited_for_ = false;
    return true;
  }
  /// Forgets it; nothing is appended any more.
  void drop() {
    if (of_all_ == nullptr) return;
    *of_all_ -= bytes_.size();
    of_all_ = nullptr;
    bytes_.release();
  }

 private:
  std::size_t room() const {
    if (bytes_.size() > kEnough) return 0;
    if (*of_all_ < kEnoughOfAll) return std::numeric_limits<std::size_t>::max();
    return bytes_.empty() ? kLeast : 0;
  }

  Buffer bytes_;
  std::size_t* of_all_;
  bool waited_for_ = false;
};

}  // namespace edge::net::http2
