#include "runtime/upstream/balance/split.h"

namespace edge::runtime {

std::uint32_t choose_backend(const program::Split& split, bool canary, SplitSequence& sequence) {
  const auto& backends = split.backends;
  if (backends.empty()) return program::kNone;
  if (canary && split.canary < backends.size()) return split.canary;
  if (split.total_weight == 0) return program::kNone;
  if (backends.size() == 1) return 0;
  std::uint32_t point = sequence.next(split.total_weight);
  for (std::uint32_t i = 0; i < backends.size(); ++i) {
    if (point < backends[i].weight) return i;
    point -= backends[i].weight;
  }
  return program::kNone;
}

}  // namespace edge::runtime
