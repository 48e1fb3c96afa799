// What each source has at once: connections to a listening socket, and streams of HTTP/2 on them. One client must not
// have all that a process can hold; the bounds are the gateways' (ClientLimitsRecord).
//
// A source is an address, of IPv6 a /64: whoever has one address there has all of them. Touched when a connection comes
// or goes, and when one has more streams than ever before; never by a request. Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/ip.h"
#include "base/keyed_hash.h"

namespace edge::runtime {

class Sources {
  /// Of one source. Lives as long as it has connections.
  struct Counts {
    Sources& sources;
    std::string key;
    std::atomic<std::uint32_t> streams{0};
    std::uint32_t connections = 0;  ///< under the lock of its shard
  };

 public:
  /// One connection's part. Empty: it is not counted.
  class Part {
   public:
    Part() = default;
    ~Part() { give_back(); }
    Part(Part&& other) noexcept
        : counts_(std::exchange(other.counts_, nullptr)), streams_(std::exchange(other.streams_, 0)) {}
    Part& operator=(Part&& other) noexcept {
      std::swap(counts_, other.counts_);
      std::swap(streams_, other.streams_);
      return *this;
    }

    /// Whether the connection may have so many streams at once. What it once had stays its own until `rest`.
    bool admits(std::size_t streams, std::uint32_t most) {
      return streams <= streams_ || counts_ == nullptr || most == 0 || take(streams, most);
    }
    /// It has no stream.
    void rest() {
      if (streams_ != 0) give_streams();
    }

   private:
    friend class Sources;
    bool take(std::size_t streams, std::uint32_t most);
    void give_streams();
    void give_back();

    Counts* counts_ = nullptr;
    std::uint32_t streams_ = 0;
  };

  /// Counts one more connection to the socket. \returns nullopt when the source has `most` of them.
  std::optional<Part> admit(std::uint32_t slot, const IpAddress& source, std::uint32_t most);

 private:
  using Table = std::unordered_map<std::string, std::unique_ptr<Counts>, KeyedHash, std::equal_to<>>;
  struct Shard {
    std::mutex mutex;
    Table table;
  };

  Shard& shard_of(const std::string& key) { return shards_[hash_(key) % shards_.size()]; }
  void give(Counts& counts);

  KeyedHash hash_;
  std::array<Shard, 64> shards_;
};

}  // namespace edge::runtime
