// The configuration of configuration.h as the YAML documents that a user would write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/compile/configuration.h"
#include "compiler/workspace.h"

namespace edge::bench {

/// The gateway, the backends, their services and endpoints.
std::vector<compiler::DocumentEdit> shared_documents();

/// What a rule tests: its kind decides what an edit of it has to make anew.
enum class RuleKind { kPath, kPattern, kCondition };
RuleKind rule_kind(const Shape& shape, std::uint32_t route);

/// Route `route`; `revision` takes part in what its rule tests, so that another revision is another rule.
compiler::DocumentEdit route_document(const Shape& shape, std::uint32_t route, std::uint32_t revision);

}  // namespace edge::bench
