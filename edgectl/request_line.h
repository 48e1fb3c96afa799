// A request as a person types it for `edgectl explain`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/analyze/explain/typed_request.h"

namespace edge::edgectl {

/// `[METHOD] scheme://host[:port]/path?query`, and fields as `name: value`. kInvalidArgument says what is wrong with
/// which part.
Result<compiler::analyze::TypedRequest> parse_request(const std::string& line, const std::vector<std::string>& fields,
                                                      const std::string& source);

}  // namespace edge::edgectl
