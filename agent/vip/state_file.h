// The persistent state of a holder of virtual addresses: lines `instance N`, `drained`, `handed-over TIME`, `held ID
// EPOCH`.
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
  Time handed_over{};                                         ///< when that process handed over its addresses
  std::vector<std::pair<std::uint64_t, std::uint64_t>> held;  ///< at that time: id, epoch
};

/// An unreadable file counts as missing.
State read_state(const std::string& path);
Status write_state(const std::string& path, const State& state);

}  // namespace edge::agent::vip
