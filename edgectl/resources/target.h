// The cluster that a command line refers to. In order of precedence: flags, the environment, ~/.edgectl/config, the
// kubeconfig.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "edgectl/resources/client_config.h"

namespace edge::edgectl {

/// The flags of every command that accesses a cluster.
std::vector<cli::Flag> target_flags();

struct Target {
  std::string kubeconfig;   ///< empty: KUBECONFIG or the user's default
  std::string context;      ///< in the kubeconfig; empty: its current one
  std::string name_space;   ///< empty: that of the kubeconfig's context
  std::string controller;   ///< HOST:PORT; empty: from the credentials
  std::string credentials;  ///< the administrator's file; empty: next to the kubeconfig
  std::string traces{};     ///< URL of the context's trace store; empty: none configured
};

/// Determines the target. A context is searched in ~/.edgectl/config first, then in the kubeconfig. The file's current
/// context applies where neither --kubeconfig nor KUBECONFIG is given. kInvalidArgument: the context's cluster does not
/// exist.
Result<Target> target_of(const cli::Arguments& arguments, const ClientConfig& config);

}  // namespace edge::edgectl
