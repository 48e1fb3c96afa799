// What every site's agents are given of the SD-WAN: LinkedWan + what agents have found -> assignments. A pure function:
// the same on every controller, and the same for the same input. docs/sdwan.md, decision 351.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "compiler/link/wan/linked_wan.h"
#include "controller/distribute/site_links.h"

namespace edge::controller::sdwan {

inline constexpr std::size_t kMostTunnels = 4096;  ///< of a site
/// A key of WireGuard is the one to use for so long, and is accepted for kKeyOverlap beyond that.
inline constexpr std::chrono::hours kKeyTime{24 * 30};
inline constexpr std::chrono::hours kKeyOverlap{24 * 3};

struct WanFacts {
  /// 32 bytes that keys are derived from; the same on all controllers of the cluster, and known to them alone.
  std::string master{};
  std::chrono::system_clock::time_point now{};
  /// Private keys of Secrets, 32 bytes, by namespace and name.
  std::map<std::pair<std::string, std::string>, std::string> given_keys{};
  /// Addresses of links that agents have found, the best first, by `namespace/name`.
  std::map<std::string, std::vector<IpAddress>> found{};
};

/// In the order of `wan.sites`, without those that no agent is for.
std::vector<SiteLinks> plan_wan(const compiler::LinkedWan& wan, const WanFacts& facts);

/// Returns the next time at which a plan is another though nothing else is: when keys change.
std::chrono::system_clock::time_point next_change(std::chrono::system_clock::time_point now);

}  // namespace edge::controller::sdwan
