// What a live agent says on its health port, above all the program that it runs (`GET /debug/program`).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

/// Where an agent answers on its own machine, unless --health-listen says something else.
inline constexpr std::string_view kThisMachine = "127.0.0.1:9091";

/// Whether an argument names an agent rather than a file: `http://127.0.0.1:9091`.
bool is_agent(const std::string& argument);

/// The body of a 200. Where a change wants the token of whoever runs the agent it is read from the file that the agent
/// names. Blocks, each wait for at most some seconds. kUnavailable: cannot be reached, or answers something
/// else, which `refusal` explains.
Result<std::string> ask_agent(const std::string& url, std::string_view method, std::string_view target,
                              const std::string& refusal);

/// Blocks, each wait for at most some seconds. kUnavailable: cannot be reached, refuses, or answers something else.
Result<std::shared_ptr<const std::vector<std::byte>>> fetch_program(const std::string& url);

}  // namespace edge::edgectl
