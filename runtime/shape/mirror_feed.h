// Passes the body of a request to its mirrored copies (runtime/upstream/mirror.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "net/buffer.h"
#include "net/loop.h"

namespace edge::runtime {

/// The bytes that the original request sends to its upstream, for one copy. Shared by both.
class MirrorFeed {
 public:
  /// The most bytes that may wait for the copy's upstream; a copy that falls further behind is abandoned.
  static constexpr std::size_t kMostBehind = std::size_t{256} * 1024;

  /// Adds the bytes at `at` of the body, framing included. Bytes that were added before are ignored: the original is
  /// being retried.
  void feed(std::uint64_t at, std::string_view bytes);
  /// Ends the feed: the original sends no more.
  void end();

  /// Takes bytes for the copy. Empty and not over: more may come.
  std::size_t take(std::span<char> into);
  bool over() const { return over_; }
  bool fell_behind() const { return fell_behind_; }
  /// Sets the channel that is notified of new bytes; null: none.
  void tell(net::Channel* channel) { channel_ = channel; }

 private:
  net::Buffer pending_;
  net::Channel* channel_ = nullptr;
  std::uint64_t fed_ = 0;
  bool over_ = false;
  bool fell_behind_ = false;
};

/// The feeds of one exchange; its destruction ends them.
class MirrorFeeds {
 public:
  MirrorFeeds() = default;
  MirrorFeeds(const MirrorFeeds&) = delete;
  MirrorFeeds& operator=(const MirrorFeeds&) = delete;
  ~MirrorFeeds();

  void add(std::shared_ptr<MirrorFeed> feed) { feeds_.push_back(std::move(feed)); }
  bool empty() const { return feeds_.empty(); }
  void feed(std::uint64_t at, std::string_view bytes) const;

 private:
  std::vector<std::shared_ptr<MirrorFeed>> feeds_;
};

/// The client side of a copy: its body comes from the feed, its response is discarded.
std::unique_ptr<net::Layer> client_of_copy(std::shared_ptr<MirrorFeed> feed);

}  // namespace edge::runtime
