// A program that gives credentials: started, waited for, killed when it takes too long, its answer read.
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
  /// Nothing of what the program wrote is in it.
  std::string error{};
  bool cancelled = false;
};

/// Of what a program may write.
inline constexpr std::size_t kMaxExecOutput = std::size_t{1} << 20;

/// The ExecCredential that the program is given in KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, const Cluster& cluster, bool terminal);
/// What it has written.
Result<ExecCredential> read_exec_credential(std::string_view text, std::string_view api_version);

/// `info`: as above. `terminal`: it may ask the user. At `until` it is killed with all that it has started, unless it
/// has the terminal: then alone. On the loop's thread, which it never blocks.
net::Task<ExecOutcome> run_plugin(net::Loop& loop, net::Waiter& waiter, ExecPlugin plugin, std::string info,
                                  bool terminal, net::Time until);

}  // namespace edge::kube
