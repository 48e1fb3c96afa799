// What each policy on a rule does with one request, as far as the request alone tells: who is asked, and who answers at
// once. Names of secrets and what is in them are never told.
#pragma once

#include <string>
#include <vector>

#include "program/read.h"
#include "program/request.h"

namespace edge::compiler::analyze {

/// `JWT demo/tokens: answers 401: the request has no header authorization`, in the order in which it passes them.
std::vector<std::string> policy_verdicts(const program::ProgramView& program, const program::SectionView& host,
                                         const program::TrafficRecord& traffic, const program::RequestView& request);

}  // namespace edge::compiler::analyze
