// The body of the calls that explain a request.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl::web {

/// Returns the parameters of the compiler's `explain`. Null: the body is not an ExplainRequest.
nlohmann::json read_explain_request(const std::string& body);

}  // namespace edge::edgectl::web
