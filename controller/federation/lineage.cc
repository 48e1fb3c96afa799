#include "controller/federation/lineage.h"

#include <algorithm>

namespace edge::federation {

Common common_of(const std::vector<Life>& lives, const std::vector<Life>& memory) {
  Common common;
  for (const Life& remembered : memory) {
    const auto life = std::ranges::find(lives, remembered.incarnation, &Life::incarnation);
    if (life == lives.end() || remembered.last > life->last) common.regressed = true;
    if (life != lives.end()) common.through = std::max(common.through, std::min(remembered.last, life->last));
  }
  return common;
}

std::vector<Life> remembered(const std::vector<Life>& lives, std::uint64_t through) {
  std::vector<Life> memory;
  for (const Life& life : lives) {
    const bool goes_on = &life == &lives.back();
    memory.push_back({life.incarnation, goes_on ? through : std::min(life.last, through)});
    if (!goes_on && life.last > through) break;
  }
  return memory;
}

}  // namespace edge::federation
