// Counts the connections per source to a listening socket, and their HTTP/2 streams, so that one client cannot use up
// the process's resources; the limits are the gateways' (ClientLimitsRecord).
//
// A source is an IPv4 address or an IPv6 /64, since a client usually controls the whole /64. Updated when a connection
// opens or closes, and when one has more streams than ever before; never by a request. Threads: any.
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
  /// The counts of one source. Lives as long as the source has connections.
  struct Counts {
    Sources& sources;
    std::string key;
    std::atomic<std::uint32_t> streams{0};
    std::uint32_t connections = 0;  ///< guarded by the lock of its shard
  };

 public:
  /// One connection's share of its source's counts. Empty: the connection is not counted.
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

    /// Returns whether the connection may have so many concurrent streams. Streams once admitted stay reserved until
    /// `rest`.
    bool admits(std::size_t streams, std::uint32_t most) {
      return streams <= streams_ || counts_ == nullptr || most == 0 || take(streams, most);
    }
    /// Returns the reserved streams: the connection has none now.
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
