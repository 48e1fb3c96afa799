// Finds the conditions that make predicates hold: a bounded search over their ANDs, ORs and NOTs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/ir/match_ir.h"

namespace edge::compiler::analyze {

/// One condition, and whether it must hold.
struct Literal {
  std::uint32_t node;
  bool holds;
};
using Literals = std::vector<Literal>;

/// A predicate, and whether it must hold.
using Goal = Literal;

enum class Search {
  kFound,       ///< `accept` accepted a solution
  kImpossible,  ///< every solution contradicts itself
  kGaveUp,      ///< solutions were rejected by `accept`, or there are too many
};

/// Calls `accept` with each consistent solution until it returns true. At most `max_ways` calls.
Search solve(const ir::Host& host, const std::vector<Goal>& goals, std::size_t max_ways,
             const std::function<bool(const Literals&)>& accept);

}  // namespace edge::compiler::analyze
