// Which cluster a command line means. What stands closer to the command wins: flags, then the environment, then
// ~/.edgectl/config, then the kubeconfig itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "edgectl/resources/client_config.h"

namespace edge::edgectl {

/// The flags of every command that asks a cluster, of which Target is made.
std::vector<cli::Flag> target_flags();

struct Target {
  std::string kubeconfig;   ///< empty: KUBECONFIG or the user's default
  std::string context;      ///< of the kubeconfig; empty: its current one
  std::string name_space;   ///< empty: as the kubeconfig's context says
  std::string controller;   ///< HOST:PORT; empty: as the credentials say
  std::string credentials;  ///< the administrator's file; empty: beside the kubeconfig
  std::string traces{};     ///< URL of the context's trace store; empty: nothing is said of one
};

/// A context is looked for in ~/.edgectl/config first, then in the kubeconfig. The file's current context holds where
/// neither --kubeconfig nor KUBECONFIG is given. kInvalidArgument: the context names a cluster that is not there.
Result<Target> target_of(const cli::Arguments& arguments, const ClientConfig& config);

}  // namespace edge::edgectl
