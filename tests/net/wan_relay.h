// A wide area network for tests: lines of two interfaces each, between which frames are forwarded late, unevenly,
// slowly or not at all, each way as it is set, while it runs.
//
// What IP sends to one machine counts. ARP, neighbour discovery and multicast pass at once, as they do not cross a real
// one. The order of packets is kept. Which of them are lost, and how long each waits, follows from the seed and the
// number of the packet on its way.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::test {

enum class Way : std::uint8_t {
  kUp,    ///< what arrives at the inner interface
  kDown,  ///< what arrives at the outer one
};

struct WanPath {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};  ///< a packet waits `delay`, and up to so much less or more, each as likely
  double loss = 0;                     ///< share, within [0, 1)
  double burst = 1;                    ///< how many packets in a row are lost, on average; at least 1
  std::uint64_t rate = 0;              ///< bits a second, of frames; 0: no limit
  std::chrono::nanoseconds queue =
      std::chrono::milliseconds(100);  ///< longest wait for `rate`; what would wait longer is dropped
  std::uint32_t mtu = 0;               ///< longer IP packets are dropped without a word; 0: no limit
  bool blackhole = false;              ///< nothing passes
};

/// Reads `delay=40ms jitter=5ms loss=0.5% burst=4 rate=10mbit queue=100ms mtu=1400 blackhole`, all of them optional.
Result<WanPath> parse_wan_path(std::string_view text);

/// Of one way of a line, since it was started or `forget`.
struct WanFigures {
  std::uint64_t arrived = 0;  ///< packets that count
  std::uint64_t forwarded = 0;
  std::uint64_t lost = 0;        ///< by `loss`
  std::uint64_t overflowed = 0;  ///< by `rate`
  std::uint64_t too_long = 0;
  std::uint64_t swallowed = 0;  ///< by `blackhole`
  std::uint64_t bytes = 0;      ///< forwarded
  /// What was done to the last 10,000 that were forwarded, the machine's own delays included: medians of the delay
  /// and of its difference between neighbours.
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};
};

struct WanLine {
  std::string name;
  std::string inner;  ///< interfaces of the network namespace of the thread that starts the relay
  std::string outer;
};

class WanRelay {
 public:
  /// Offloads must be off at both ends of the interfaces' cables: turn_off_offloads. Ends with its destructor.
  static Result<std::unique_ptr<WanRelay>> start(const std::vector<WanLine>& lines, std::uint64_t seed);
  ~WanRelay();

  /// For packets that arrive from now on. False: there is no such line.
  bool set(const std::string& line, Way way, const WanPath& path);
  bool set(const std::string& line, const WanPath& path);
  WanFigures figures(const std::string& line, Way way) const;
  void forget();

 private:
  struct Impl;
  explicit WanRelay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Turns off, in the calling thread's network namespace, what makes a veth send segments and datagrams that are longer
/// than its MTU or lack a checksum.
Status turn_off_offloads(const std::string& interface);

}  // namespace edge::test
