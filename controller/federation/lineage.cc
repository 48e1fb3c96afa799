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

void remember(std::vector<Life>& memory, const std::vector<Life>& lives, std::uint64_t through, std::size_t most) {
  std::erase_if(memory, [&](const Life& remembered) {
    const auto life = std::ranges::find(lives, remembered.incarnation, &Life::incarnation);
    return life == lives.end() || remembered.last > life->last || life + 1 == lives.end();
  });
  memory.push_back({lives.back().incarnation, through});
  if (memory.size() > most) memory.erase(memory.begin());
}

}  // namespace edge::federation
