#include "runtime/shape/mirror_feed.h"

#include <cstring>

namespace edge::runtime {
namespace {

using net::Transfer;

class FeedLayer final : public net::Layer {
 public:
  explicit FeedLayer(std::shared_ptr<MirrorFeed> feed) : feed_(std::move(feed)) {}

  Transfer receive(net::Channel& /*channel*/, std::span<char> into) override {
    const std::size_t taken = feed_->take(into);
    if (taken != 0) return {Transfer::Kind::kDone, taken};
    return {feed_->over() ? Transfer::Kind::kFailed : Transfer::Kind::kWouldBlock, 0};
  }
  Transfer send(net::Channel& /*channel*/, std::span<const iovec> pieces) override {
    std::size_t whole = 0;
    for (const iovec& one : pieces) whole += one.iov_len;
    return {Transfer::Kind::kDone, whole};
  }
  bool finish(net::Channel& /*channel*/) override { return true; }
  void reset(net::Channel& /*channel*/) override {}

 private:
  std::shared_ptr<MirrorFeed> feed_;
};

}  // namespace

std::unique_ptr<net::Layer> client_of_copy(std::shared_ptr<MirrorFeed> feed) {
  return std::make_unique<FeedLayer>(std::move(feed));
}

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
