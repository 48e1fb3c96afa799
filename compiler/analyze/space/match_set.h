// Converts configuration to sets of requests: a rule's match, and an expression of rule D5.
#pragma once

#include <cstddef>
#include <functional>

#include "compiler/analyze/space/space.h"
#include "compiler/expr/expression.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::analyze {

/// Returns the value of a claim's fact; null where there are none.
using FactSet = std::function<Set(const expr::Expression& fact)>;

Set expression_set(Space& space, const expr::Expression& expression, const FactSet& facts = nullptr);

/// Returns the requests of one match of a route on a listener, including its expression; hosts are ignored. Unreadable
/// parts match nothing.
Set match_set(Space& space, const LinkedListener& listener, const LinkedRoute& route, std::size_t rule,
              std::size_t match);

}  // namespace edge::compiler::analyze
