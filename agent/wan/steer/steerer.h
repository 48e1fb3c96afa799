// Keeps our table of nftables as a Steering says it, by the program nft.
#pragma once

#include <cstdint>
#include <string>

#include "agent/wan/steer/steering.h"
#include "base/result.h"

namespace edge::agent::wan {

/// For one thread, in whose network namespace it works.
class Steerer {
 public:
  /// Replaces the rules in one transaction: every packet meets those before, or those after. Does nothing where they
  /// are in force. kNotFound: there is no nft.
  Status apply(const Steering& steering);
  /// To be called about once a second: puts the rules back after another program has changed any (a firewall that is
  /// loaded anew begins with `flush ruleset`).
  Status keep();
  Status remove();

 private:
  Status load(const std::string& text);

  std::string text_;              ///< of what is in force; empty: nothing is
  std::uint32_t generation_ = 0;  ///< of the kernel's rules after our last change
};

}  // namespace edge::agent::wan
