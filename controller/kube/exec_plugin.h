// Runs a credential plugin: starts it, kills it at the timeout, parses its output.
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "controller/kube/config.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::kube {

struct ExecCredential {
  std::string token;
  std::string certificate, key;  ///< PEM
  std::optional<std::chrono::system_clock::time_point> expires;
};

struct ExecOutcome {
  std::optional<ExecCredential> credential{};
  /// Contains nothing of the plugin's output.
  std::string error{};
  bool cancelled = false;
};

/// Limit of a plugin's output.
inline constexpr std::size_t kMaxExecOutput = std::size_t{1} << 20;

/// Returns the ExecCredential that the plugin gets in KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, const Cluster& cluster, bool terminal);
/// Parses the plugin's output.
Result<ExecCredential> read_exec_credential(std::string_view text, std::string_view api_version);

/// Runs a plugin. `info`: as above. `terminal`: it may prompt the user. At `until` it is killed with its descendants;
/// with a terminal only the process itself. On the loop's thread, which is never blocked.
net::Task<ExecOutcome> run_plugin(net::Loop& loop, net::Waiter& waiter, ExecPlugin plugin, std::string info,
                                  bool terminal, net::Time until);

}  // namespace edge::kube
