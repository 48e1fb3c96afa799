// The program that a live agent runs, fetched from its health port (`GET /debug/program`).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

/// Whether an argument names an agent rather than a file: `http://127.0.0.1:9091`.
bool is_agent(const std::string& argument);

/// Blocks, each wait for at most some seconds. kUnavailable: cannot be reached, refuses, or answers something else.
Result<std::shared_ptr<const std::vector<std::byte>>> fetch_program(const std::string& url);

}  // namespace edge::edgectl
