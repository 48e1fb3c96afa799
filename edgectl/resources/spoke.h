// A spoke of a hub, asked by the hub's controller over the spoke's connection: `--cluster NAME`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "controller/kube/client.h"

namespace edge::edgectl {

/// Returns the value of `--cluster`; empty: the cluster itself is meant. A command whose `--cluster` is a switch has
/// none.
std::string spoke_of(const cli::Arguments& arguments);

/// Returns what answers requests to the spoke's API. kInvalidArgument for invalid flags, else kUnavailable.
Result<std::function<kube::Reply(const kube::Request&)>> spoke_api(const cli::Arguments& arguments,
                                                                   const std::string& name);

/// Returns the bytes of the program that the spoke's agents are given. kNotFound: it has none yet, or there is no such
/// spoke; kUnavailable: it is away, or its controller or the hub's is too old; kPermissionDenied: it lets nobody read.
Result<std::vector<std::byte>> spoke_program(const cli::Arguments& arguments, const std::string& name);

}  // namespace edge::edgectl
