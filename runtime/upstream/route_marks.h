// The marks of connections that are made for requests of some gateways (SO_MARK), so that the node's policies can steer
// them: docs/sdwan.md.
//
// A connection is reused for requests of the same mark and turn alone. A gateway's turn is another one after its
// traffic was moved: new requests take new connections then, those in flight finish where they are.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace edge::runtime {

struct GatewayMark {
  std::uint64_t gateway = 0;  ///< program::GatewayRecord::id; never 0
  std::uint32_t mark = 0;
  std::uint32_t turn = 0;
  friend bool operator==(const GatewayMark&, const GatewayMark&) = default;
};

/// `set` from one thread at a time; the others from any.
class RouteMarks {
 public:
  static constexpr std::size_t kMost = 64;

  /// The first kMost of them; those of other gateways are 0.
  void set(std::span<const GatewayMark> marks) {
    for (std::size_t i = 0; i < kMost; ++i) {
      const GatewayMark one = i < marks.size() ? marks[i] : GatewayMark();
      ways_[i].store(std::uint64_t{one.turn} << 32 | one.mark, std::memory_order_relaxed);
      gateways_[i].store(one.gateway, std::memory_order_relaxed);
    }
    any_.store(!marks.empty(), std::memory_order_release);
  }
  bool any() const { return any_.load(std::memory_order_relaxed); }
  /// The mark in the low half, the turn in the high one; 0: connections need none. A request that meets a change may
  /// have what another gateway had before, and be steered as that one's.
  std::uint64_t way_of(std::uint64_t gateway) const {
    for (std::size_t i = 0; i < kMost; ++i) {
      if (gateways_[i].load(std::memory_order_relaxed) == gateway) return ways_[i].load(std::memory_order_relaxed);
    }
    return 0;
  }
  static std::uint32_t mark_of(std::uint64_t way) { return static_cast<std::uint32_t>(way); }

 private:
  std::atomic<bool> any_ = false;
  std::array<std::atomic<std::uint64_t>, kMost> gateways_{};
  std::array<std::atomic<std::uint64_t>, kMost> ways_{};
};

}  // namespace edge::runtime
