// Backoff for a server that does not answer: full jitter below a bound that doubles, so that clients that lost the same
// server do not reconnect at the same time.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

#include "net/clock.h"

namespace edge::kube {

/// Returns numbers in [0, 1), from a generator seeded by the system at the first one: most calls need none, and the
/// seed is a system call.
inline std::function<double()> random_fraction() {
  return [generator = std::optional<std::minstd_rand>()]() mutable {
    if (!generator) generator.emplace(std::random_device{}());
    return std::generate_canonical<double, 32>(*generator);
  };
}

class Backoff {
 public:
  Backoff(net::Duration first, net::Duration longest, std::function<double()> random)
      : first_(first), longest_(longest), bound_(first), random_(random ? std::move(random) : random_fraction()) {}

  /// Returns a delay between a twentieth of the bound and all of it; the bound then doubles.
  net::Duration next() {
    const auto drawn = net::Duration(static_cast<net::Duration::rep>(static_cast<double>(bound_.count()) * random_()));
    const net::Duration delay = std::max(bound_ / 20, drawn);
    bound_ = std::min(longest_, bound_ * 2);
    return delay;
  }
  void reset() { bound_ = first_; }

 private:
  net::Duration first_, longest_, bound_;
  std::function<double()> random_;
};

}  // namespace edge::kube
