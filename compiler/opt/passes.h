// Transformations of a lowered host before it becomes tables. Each pass preserves the semantics: every request gets the
// same result. One transformation per file; the list, in order, is in passes.cc.
#pragma once

#include "compiler/ir/match_ir.h"

namespace edge::compiler::opt {

/// Replaces conditions on the path that the group's own path determines by constants. In `/api`'s group `path prefix
/// "/api"` is true and `path exact "/b"` is false.
void fold_known_paths(ir::Host& host);

/// Merges AND in AND and OR in OR into one node, where that does not copy a large shared one.
void flatten(ir::Host& host);

/// Removes constants, duplicates and contradictions; moves a candidate with contradictory conditions to
/// Host::impossible.
void fold_constants(ir::Host& host);

/// Moves a candidate that can never win, because an earlier one holds whenever it does, to Host::shadowed with its
/// winner.
void drop_shadowed(ir::Host& host);

/// Removes what no candidate uses, then numbers nodes, slots and patterns in the order defined in match_ir.h.
void number(ir::Host& host);

/// Runs all of the above.
void optimize(ir::Host& host);

}  // namespace edge::compiler::opt
