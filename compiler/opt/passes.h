// What is done to a lowered host before it becomes tables. Each pass keeps the meaning: every request gets the answer
// that it got before. One transformation a file; the list, in order, is passes.cc.
#pragma once

#include "compiler/ir/match_ir.h"

namespace edge::compiler::opt {

/// Conditions on the path that the group's own path decides become constants. In `/api`'s group `path prefix "/api"` is
/// true and `path exact "/b"` is false.
void fold_known_paths(ir::Host& host);

/// AND in AND and OR in OR become one node, where that does not copy a large shared one.
void flatten(ir::Host& host);

/// Constants, doubles and contradictions vanish; a candidate whose conditions exclude each other goes to
/// Host::impossible.
void fold_constants(ir::Host& host);

/// A candidate after one that holds whenever it does can never win: it goes to Host::shadowed with its winner.
void drop_shadowed(ir::Host& host);

/// Drops what no candidate uses, then numbers nodes, slots and patterns in the order that match_ir.h states.
void number(ir::Host& host);

/// All of the above.
void optimize(ir::Host& host);

}  // namespace edge::compiler::opt
