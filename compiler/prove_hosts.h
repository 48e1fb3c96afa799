// The proof of the hosts that a compile made anew, with the engines that the program will have. Part of `compile`.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/cache/compiled_hosts.h"
#include "compiler/cache/regex_sets.h"
#include "compiler/host_shards.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler {

/// Proves each host of `works` on its section in `hosts`, and keeps there what the proof had to say.
/// \returns whether all were proved; an error when native code could not be run.
Result<bool> prove_hosts(const LinkedConfig& config, const std::vector<HostWork>& works, CompiledHosts& hosts,
                         HostShards& shards, RegexSets& regexes);

}  // namespace edge::compiler
