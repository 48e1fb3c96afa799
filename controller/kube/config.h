// The API's address and the credentials, resolved from kubeconfig files, flags, the environment and a pod's mounts.
//
// Resolving only reads files; what changes afterwards (token files, plugins) is handled by credentials.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/client/url.h"
#include "net/socket.h"

namespace edge::kube {

/// A credential plugin (client.authentication.k8s.io). Executed directly, never through a shell.
struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool provide_cluster_info = false;
  /// It requires a terminal.
  bool needs_terminal = false;
};

struct Cluster {
  std::string name;
  /// With the path prefix of all requests; without a `/` at its end, so mostly empty.
  net::client::Url server;
  /// Replaces a network connection to `server`, for a server within this process. May be empty.
  std::function<Result<net::Fd>()> dial{};
  /// PEM; empty: the CAs trusted by the operating system.
  std::string authorities;
  /// The server's certificate is not verified.
  bool unverified = false;
  /// Replaces the server's name in SNI and certificate verification.
  std::string server_name;
};

/// At most one way to authenticate each for the connection and for the request.
struct Identity {
  /// PEM; the files are read again when they change.
  std::string certificate, key;
  std::string certificate_file, key_file;
  std::string token;
  /// Takes precedence over `token`; the file is read again.
  std::string token_file;
  std::string username, password;
  std::optional<ExecPlugin> exec;
  /// Impersonate-User and -Group.
  std::string impersonate;
  std::vector<std::string> impersonate_groups;
};

/// The sources of configuration; flags take precedence over files, files over the pod.
struct ConfigSources {
  /// --kubeconfig; then no other file is read.
  std::string kubeconfig;
  /// Override current-context, and the members of the context.
  std::string context, cluster, user, name_space;
  /// The process's environment; KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST and _PORT are used.
  std::function<std::optional<std::string>(const char* name)> environment;
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

  static ConfigSources of_process();
};

struct Config {
  /// Empty in a pod.
  std::string context;
  /// From the context or the pod, else `default`.
  std::string name_space = "default";
  Cluster cluster;
  Identity identity;
  /// To be shown once, such as for a server that is not verified.
  std::vector<std::string> warnings;
  /// The files that were used, for messages.
  std::vector<std::string> files;

  /// kNotFound: no file, and no pod; kInvalidArgument names file and field, never a value that may be secret.
  static Result<Config> resolve(const ConfigSources& sources);
};

}  // namespace edge::kube
