// Fetches from the health port of a live agent, above all its running program (`GET /debug/program`).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

/// The default health port of an agent on this machine.
inline constexpr std::string_view kThisMachine = "127.0.0.1:9091";

/// Returns whether an argument is an agent's URL rather than a file: `http://127.0.0.1:9091`.
bool is_agent(const std::string& argument);

/// Returns the body of a 200. Where a change requires the operator's token it is read from the file that the agent
/// names. Blocks, each wait for at most some seconds. kUnavailable: unreachable, or another response, which `refusal`
/// explains.
Result<std::string> ask_agent(const std::string& url, std::string_view method, std::string_view target,
                              const std::string& refusal);

/// Blocks, each wait for at most some seconds. kUnavailable: unreachable, or another response.
Result<std::shared_ptr<const std::vector<std::byte>>> fetch_program(const std::string& url);

}  // namespace edge::edgectl
