// The body of a request on its way to the copies of it (runtime/upstream/mirror.h).
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

/// What the original hands over: the bytes of its body as they go to its own upstream. Shared by both.
class MirrorFeed {
 public:
  /// Waiting for the copy to be sent; a copy that falls further behind is given up.
  static constexpr std::size_t kMostBehind = std::size_t{256} * 1024;

  /// Bytes at `at` of the body, framing included. What was fed before is passed over: the original is tried again.
  void feed(std::uint64_t at, std::string_view bytes);
  /// The original will not go on.
  void end();

  /// For the copy. Empty and not over: more may come.
  std::size_t take(std::span<char> into);
  bool over() const { return over_; }
  bool fell_behind() const { return fell_behind_; }
  /// Told when there is something new; null: nobody is.
  void tell(net::Channel* channel) { channel_ = channel; }

 private:
  net::Buffer pending_;
  net::Channel* channel_ = nullptr;
  std::uint64_t fed_ = 0;
  bool over_ = false;
  bool fell_behind_ = false;
};

/// The feeds of one exchange; ends them with it.
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

/// The client of a copy: its body comes from the feed, its answer goes nowhere.
std::unique_ptr<net::Layer> client_of_copy(std::shared_ptr<MirrorFeed> feed);

}  // namespace edge::runtime
