#include "controller/status/write_pace.h"

#include <algorithm>

namespace edge::controller {

void WritePace::hold_until(net::Time at) {
  std::multiset<net::Time> later;
  for (const net::Time free : free_) later.insert(std::max(free, at));
  free_ = std::move(later);
}

}  // namespace edge::controller
