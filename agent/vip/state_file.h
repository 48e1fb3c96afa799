// What a holder of virtual addresses keeps on disk: a line a fact, `instance N`, `drained`, `handed-over TIME`,
// `held ID EPOCH`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agent/vip/assignment.h"
#include "base/result.h"

namespace edge::agent::vip {

struct State {
  std::uint64_t instance = 0;  ///< of the last process
  bool drained = false;
  Time handed_over{};                                         ///< when that process handed over what it held
  std::vector<std::pair<std::uint64_t, std::uint64_t>> held;  ///< then: id, epoch
};

/// What cannot be read is as good as nothing.
State read_state(const std::string& path);
Status write_state(const std::string& path, const State& state);

}  // namespace edge::agent::vip
