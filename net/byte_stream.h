// The byte streams of a connection, designed so that an idle connection needs no buffer: an Inlet uses the thread's
// scratch until the session has to wait, an Outlet owns only what the peer did not accept.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "net/buffer.h"
#include "net/loop.h"

namespace edge::net {

/// Received bytes that were not consumed yet. They are in the thread's scratch until `keep`, which the owner calls
/// before every wait; after it the inlet owns them.
class Inlet {
 public:
  std::string_view unread() const { return unread_; }
  bool empty() const { return unread_.empty(); }
  /// Views of consumed bytes stay valid until the next `keep` or `fill`.
  void consume(std::size_t size) { unread_.remove_prefix(size); }
  /// Receives more: into `scratch` when nothing is unread, else appended.
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

/// Sends, and buffers what the socket does not accept: the owner then waits for kWrite, calls `flush`, and produces
/// nothing until `blocked` is false. This is the back-pressure of a relay.
class Outlet {
 public:
  bool blocked() const { return !pending_.empty(); }
  std::string_view pending() const { return pending_.view(); }
  /// Takes all the bytes. \returns false when the connection is broken; `sent_any` tells whether some were sent.
  bool send(Channel& channel, std::span<iovec> pieces);
  bool flush(Channel& channel);
  /// Returns whether any byte was ever passed to the socket.
  bool sent_any() const { return sent_any_; }

 private:
  Buffer pending_;
  bool sent_any_ = false;
};

inline iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace edge::net
