// What a fuzz target holds of whatever it was given.
#pragma once

#include <cstdlib>

/// A fault when it does not hold, in every build.
inline void require(bool holds) {
  if (!holds) std::abort();
}
