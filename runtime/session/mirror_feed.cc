#include "runtime/session/mirror_feed.h"

#include <cstring>

namespace edge::runtime {

void MirrorFeed::feed(std::uint64_t at, std::string_view bytes) {
  const std::uint64_t known = fed_ > at ? fed_ - at : 0;
  if (over_ || known >= bytes.size()) return;
  bytes.remove_prefix(static_cast<std::size_t>(known));
  fed_ += bytes.size();
  if (pending_.size() + bytes.size() > kMostBehind) {
    fell_behind_ = true;
    pending_.release();
    return end();
  }
  pending_.append(bytes);
  if (channel_ != nullptr) channel_->signal(net::kRead);
}

void MirrorFeed::end() {
  over_ = true;
  if (channel_ != nullptr) channel_->signal(net::kRead);
}

std::size_t MirrorFeed::take(std::span<char> into) {
  const std::string_view there = pending_.view().substr(0, into.size());
  if (there.empty()) return 0;
  std::memcpy(into.data(), there.data(), there.size());
  const std::size_t taken = there.size();
  pending_.consume(taken);
  if (pending_.empty()) pending_.release();
  return taken;
}

MirrorFeeds::~MirrorFeeds() {
  for (const auto& feed : feeds_) feed->end();
}

void MirrorFeeds::feed(std::uint64_t at, std::string_view bytes) const {
  for (const auto& feed : feeds_) feed->feed(at, bytes);
}

}  // namespace edge::runtime
