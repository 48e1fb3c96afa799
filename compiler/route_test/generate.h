// Makes route tests of a program: requests on both sides of every border that its rules draw, with what becomes of them
// today. Run after a change, they say what the change moved.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/route_test/route_test.h"
#include "program/read.h"

namespace edge::compiler::route_test {

struct Generated {
  std::vector<Case> cases;
  std::size_t unreached = 0;  ///< rules for which no request was found
  bool cut_off = false;       ///< there would be more than `most`
};

/// For each rule a request that it takes, one that misses each of its conditions, and the edges of its path; for each
/// alternative of an OR one that fulfils it alone; for each host its edges and a request that no rule of it takes;
/// the canary of each split. At most `most` cases; the same program gives the same cases.
Generated generate_cases(const program::ProgramView& program, std::size_t most);

}  // namespace edge::compiler::route_test
