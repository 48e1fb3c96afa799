// Parses a request typed for `edgectl explain`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/analyze/explain/typed_request.h"

namespace edge::edgectl {

/// Parses `[METHOD] scheme://host[:port]/path?query`, fields `name: value`, and claims `name=value` of a token that the
/// listener's policy is taken to have verified. kInvalidArgument says which part is wrong.
Result<compiler::analyze::TypedRequest> parse_request(const std::string& line, const std::vector<std::string>& fields,
                                                      const std::vector<std::string>& claims,
                                                      const std::string& source);

}  // namespace edge::edgectl
