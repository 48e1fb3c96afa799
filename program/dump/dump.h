// Formats programs for users: the text of `edgectl routes dump` and of the golden files. Stable: sorted by listener,
// host and rule priority; no offsets, no hashes of native code, so that a line changes only when its meaning does.
#pragma once

#include <string>

#include "program/read.h"

namespace edge::program {

/// Returns the match tree: bind, listener, host, then targets in the order of matching, each candidate with its
/// conditions in the expression syntax of rule D5, route, rule, backends, filters.
std::string dump_routes(const ProgramView& program);
/// The same as one JSON document.
std::string dump_routes_json(const ProgramView& program);
/// Returns sections with kind, id, size and hash; target, version, signature state. For debugging programs.
std::string dump_sections(const ProgramView& program);
/// Returns one predicate in the expression syntax, such as `method == "GET" AND header:x-env == "prod"`.
std::string predicate_text(const SectionView& host, std::uint32_t node);

}  // namespace edge::program
