// The body that a session has written and the peer's windows have not accepted yet. The counterpart of incoming_text.h.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include "net/buffer.h"

namespace edge::net::http2 {

/// Limited per stream and over all streams of the connection: a peer that opens many streams and reads none of them
/// costs little more than one stream.
class OutgoingBody {
 public:
  /// Above this size the stream's session waits. Below it, what the session sends is accepted completely, so that
  /// nothing is copied into a second queue.
  static constexpr std::size_t kEnough = std::size_t{16} * 1024;
  /// Above this size over all streams, each may buffer kLeast at a time: slow, but no stream waits for another's
  /// reader.
  static constexpr std::size_t kEnoughOfAll = std::size_t{1024} * 1024;
  static constexpr std::size_t kLeast = std::size_t{4} * 1024;

  /// `of_all`: the bytes buffered by all streams of the connection; must stay valid until `drop`.
  explicit OutgoingBody(std::size_t& of_all) : of_all_(&of_all) {}
  ~OutgoingBody() { drop(); }
  OutgoingBody(const OutgoingBody&) = delete;
  OutgoingBody& operator=(const OutgoingBody&) = delete;

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }
  std::string_view front(std::size_t size) const { return bytes_.view().substr(0, size); }

  /// As Layer::appetite: after 0 the caller waits until `took` returns true.
  std::size_t appetite() {
    const std::size_t most = room();
    waited_for_ |= most == 0;
    return most;
  }
  void append(std::string_view bytes) {
    bytes_.append(bytes);
    *of_all_ += bytes.size();
  }
  /// Removes the first `size` bytes, which were sent. \returns whether a waiting session may continue.
  bool took(std::size_t size) {
    bytes_.consume(size);
    *of_all_ -= size;
    if (bytes_.empty()) bytes_.release();
    if (!waited_for_ || room() == 0) return false;
    waited_for_ = false;
    return true;
  }
  /// Drops the data; nothing is appended any more.
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
