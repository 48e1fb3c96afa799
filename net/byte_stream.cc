#include "net/byte_stream.h"

#include <algorithm>

namespace edge::net {

Transfer Inlet::fill(Channel& channel, std::span<char> scratch) {
  if (unread_.empty()) {
    kept_.release();
    const Transfer got = channel.receive(scratch);
    if (got.kind == Transfer::Kind::kDone) unread_ = {scratch.data(), got.bytes};
    return got;
  }
  keep();
  // Doubles, so that a head that comes in small pieces is not copied once a piece.
  const Transfer got = channel.receive(kept_.room(std::max<std::size_t>(kept_.size(), 512)));
  if (got.kind == Transfer::Kind::kDone) kept_.grow(got.bytes);
  unread_ = kept_.view();
  return got;
}

void Inlet::keep() {
  if (unread_.empty()) {
    kept_.release();
    return;
  }
  const std::string_view held = kept_.view();
  if (!held.empty() && unread_.data() + unread_.size() == held.data() + held.size()) {
    kept_.consume(held.size() - unread_.size());
    return;
  }
  Buffer fresh;
  fresh.append(unread_);
  kept_ = std::move(fresh);
  unread_ = kept_.view();
}

bool Outlet::send(Channel& channel, std::span<iovec> pieces) {
  if (!blocked()) {
    for (;;) {
      while (!pieces.empty() && pieces[0].iov_len == 0) pieces = pieces.subspan(1);
      if (pieces.empty()) return true;
      const Transfer sent = channel.send(pieces);
      if (sent.kind == Transfer::Kind::kFailed) return false;
      if (sent.kind == Transfer::Kind::kWouldBlock) break;
      sent_any_ = true;
      std::size_t left = sent.bytes;
      while (!pieces.empty() && left >= pieces[0].iov_len) {
        left -= pieces[0].iov_len;
        pieces = pieces.subspan(1);
      }
      if (pieces.empty()) return true;
      pieces[0].iov_base = static_cast<char*>(pieces[0].iov_base) + left;
      pieces[0].iov_len -= left;
      // A short count means a full socket buffer: a second try would say so again.
      break;
    }
  }
  for (const iovec& rest : pieces) pending_.append({static_cast<const char*>(rest.iov_base), rest.iov_len});
  return true;
}

bool Outlet::flush(Channel& channel) {
  if (!blocked()) return true;
  const iovec rest = piece(pending_.view());
  const Transfer sent = channel.send({&rest, 1});
  if (sent.kind == Transfer::Kind::kFailed) return false;
  if (sent.kind == Transfer::Kind::kDone) {
    sent_any_ = true;
    pending_.consume(sent.bytes);
    if (pending_.empty()) pending_.release();
  }
  return true;
}

}  // namespace edge::net
