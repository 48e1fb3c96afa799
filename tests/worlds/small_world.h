// Worlds so small that every request in them can be listed: what the exact answers of compiler/analyze are held
// against.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/link/linked_config.h"
#include "tests/reference/chance.h"
#include "tests/reference/request.h"

namespace edge::worlds {

/// One listener on port 80; a few routes whose conditions are all about the values that `every_request` goes through.
compiler::LinkedConfig small_config(Chance& chance);

/// An expression of rule D5 over the same values.
std::string small_expression(Chance& chance, int depth);

/// Hosts, paths of up to three bytes after the slash, methods, one header, one query key and sources: every combination
/// of some values that conditions name and some that none does.
std::vector<reference::OwnedRequest> every_request();

}  // namespace edge::worlds
