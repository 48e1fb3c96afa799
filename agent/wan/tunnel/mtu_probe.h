// How long packets in a tunnel may be: searched with echo requests that must not be fragmented, as a link that drops
// long packets without a word (a black hole, RFC 8899) looks well to everything else.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/ip.h"
#include "net/socket.h"

namespace edge::agent::wan {

/// Used until something is known: what every network of IPv6 carries, less is no matter of tunnels.
inline constexpr std::uint32_t kSafeMtu = 1280;

/// The search of one tunnel: the largest size first, then by halves. Pure.
class MtuSearch {
 public:
  explicit MtuSearch(std::uint32_t most) : most_(most), size_(most) {}

  /// The size to try now; nullopt: the search is over.
  std::optional<std::uint32_t> next() const;
  void passed();
  /// It was lost kTries times.
  void lost();
  /// nullopt: nothing is known, for now or because nothing answers.
  std::optional<std::uint32_t> found() const;
  std::uint32_t most() const { return most_; }

  static constexpr int kTries = 3;

 private:
  std::uint32_t most_;
  std::uint32_t size_;      ///< that is tried
  std::uint32_t good_ = 0;  ///< the largest that passed
  std::uint32_t bad_ = 0;   ///< the smallest that did not; 0: none
  bool over_ = false;
};

/// Of all tunnels of a node. For one thread.
class MtuProber {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Opens its sockets; without the right to (CAP_NET_RAW) nothing is ever found.
  MtuProber();

  /// To be called often for every tunnel that is up. `name`: of its interface. `peer`: its end of the tunnel.
  void work(const std::string& name, std::uint32_t mark, const IpAddress& peer, std::uint32_t most, Time now);
  /// Begins anew: its way is another one.
  void forget(const std::string& name) { tunnels_.erase(name); }
  /// Takes the answers that have come.
  void take_answers();
  std::uint32_t mtu(const std::string& name, std::uint32_t most) const;
  bool searching() const;

 private:
  struct Tunnel {
    MtuSearch search;
    std::optional<std::uint32_t> mtu{};  ///< of the last search
    bool known = false;                  ///< a search has ended
    std::uint16_t sequence = 0;          ///< of the request that is awaited; 0: none
    int tries = 0;
    Time sent{};
    Time next{};  ///< of the next search
  };
  bool send(std::uint16_t sequence, std::uint32_t mark, const IpAddress& peer, std::uint32_t size) const;
  void take(const unsigned char* icmp, std::size_t size, unsigned char reply);

  net::Fd v4_;
  net::Fd v6_;
  std::uint16_t identity_ = 0;
  std::uint16_t sequence_ = 0;
  std::map<std::string, Tunnel> tunnels_;
};

}  // namespace edge::agent::wan
