// How far one cluster knows the state of another, by the lives that the other has had. A state that was restored from a
// backup continues an earlier life, or an earlier point of one, than others remember.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/federation/frame.h"

namespace edge::federation {

struct Common {
  std::uint64_t through = 0;  ///< sequence number up to which both mean the same state
  bool regressed = false;     ///< what was remembered is no longer part of the other's state
};

/// `lives`: of the other's state, as it says now; `memory`: what of it was processed.
Common common_of(const std::vector<Life>& lives, const std::vector<Life>& memory);

/// Returns what to remember of a state that was processed up to `through`: of earlier lives too, as a backup may be
/// from one that was never heard itself.
std::vector<Life> remembered(const std::vector<Life>& lives, std::uint64_t through);

}  // namespace edge::federation
