// Compares the fast engines with the interpreter for one request, as the proof does for its own requests.
#pragma once

#include <string>
#include <vector>

#include "compiler/analyze/explain/explain.h"
#include "program/evaluate/evaluate.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// Evaluates every group and every pattern of `hosts` by native code and by Hyperscan. Both are rebuilt from the
/// tables, so that no code in the program is executed.
std::vector<ExplainedEngine> compare_engines(program::Target target, const std::vector<const program::Section*>& hosts,
                                             const program::RequestView& request, const program::RegexMatcher& regex,
                                             const std::string& regex_worker);

}  // namespace edge::compiler::analyze
