// How long to leave somebody alone who does not answer: full jitter below a bound that doubles, so that many who lost
// the same server do not come back together.
#pragma once

#include <algorithm>
#include <functional>
#include <random>

#include "net/clock.h"

namespace edge::kube {

/// In [0, 1), from a generator of its own that is seeded by the system.
inline std::function<double()> random_fraction() {
  return [generator = std::minstd_rand(std::random_device{}())]() mutable {
    return std::generate_canonical<double, 32>(generator);
  };
}

class Backoff {
 public:
  Backoff(net::Duration first, net::Duration longest, std::function<double()> random)
      : first_(first), longest_(longest), bound_(first), random_(random ? std::move(random) : random_fraction()) {}

  /// Between a twentieth of the bound and all of it; the bound then doubles.
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
