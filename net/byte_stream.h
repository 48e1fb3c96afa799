// The two ends of a connection's bytes, so that an idle connection holds none: an Inlet lends the thread's scratch
// until the session has to wait, an Outlet owns only what the peer did not take.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "net/buffer.h"
#include "net/loop.h"

namespace edge::net {

/// Bytes that were received and not used yet. They lie in the thread's scratch until `keep`, which the owner calls
/// before every wait; after it they are the inlet's own.
class Inlet {
 public:
  std::string_view unread() const { return unread_; }
  bool empty() const { return unread_.empty(); }
  /// Views of what was consumed stay good until the next `keep` or `fill`.
  void consume(std::size_t size) { unread_.remove_prefix(size); }
  /// Receives more: into `scratch` when nothing is unread, else behind it.
  Transfer fill(Channel& channel, std::span<char> scratch);
  void keep();
  void drop() {
    unread_ = {};
    kept_.release();
  }

 private:
  Buffer kept_;
  std::string_view unread_;
};

/// Sends, and holds back what the socket does not take: the owner then waits for kWrite and calls `flush`, and produces
/// nothing more until `blocked` is false. That is the back-pressure of a relay.
class Outlet {
 public:
  bool blocked() const { return !pending_.empty(); }
  std::string_view pending() const { return pending_.view(); }
  /// Takes all the bytes. \returns false when the connection is broken; `sent_any` tells whether some left.
  bool send(Channel& channel, std::span<iovec> pieces);
  bool flush(Channel& channel);
  /// Whether any byte was ever handed to the socket.
  bool sent_any() const { return sent_any_; }

 private:
  Buffer pending_;
  bool sent_any_ = false;
};

inline iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace edge::net
