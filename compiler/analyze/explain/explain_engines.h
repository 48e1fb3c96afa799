// Holds the fast engines against the interpreter on one request, as the proof does on its own requests.
#pragma once

#include <string>
#include <vector>

#include "compiler/analyze/explain/explain.h"
#include "program/evaluate/evaluate.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// Every group and every pattern of `hosts`, decided by native code and by Hyperscan. Both are made anew from the
/// tables, so that explaining a program runs nothing that came in it.
std::vector<ExplainedEngine> compare_engines(program::Target target, const std::vector<const program::Section*>& hosts,
                                             const program::RequestView& request, const program::RegexMatcher& regex,
                                             const std::string& regex_worker);

}  // namespace edge::compiler::analyze
