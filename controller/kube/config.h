// Where the API is and who we are: what kubeconfig files, flags, the environment and a pod's mounts say of it, settled.
//
// Reading it touches files and nothing else; what changes afterwards (tokens in files, plugins) is credentials.h.
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

/// A program that gives credentials (client.authentication.k8s.io). Run as it stands, never through a shell.
struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool provide_cluster_info = false;
  /// It says that it cannot do without a terminal.
  bool needs_terminal = false;
};

struct Cluster {
  std::string name;
  /// With the path that every request's begins with; never a `/` at its end, so mostly empty.
  net::client::Url server;
  /// In place of a connection to `server`, for one within this process. May be empty.
  std::function<Result<net::Fd>()> dial{};
  /// PEM; empty: whom the operating system believes.
  std::string authorities;
  /// Nobody checks who answers.
  bool unverified = false;
  /// In place of the server's name, as SNI and in its certificate.
  std::string server_name;
};

/// At most one way to be known each for the connection and for the request.
struct Identity {
  /// PEM; the files are read again when they change.
  std::string certificate, key;
  std::string certificate_file, key_file;
  std::string token;
  /// Stands before `token`, and is read again.
  std::string token_file;
  std::string username, password;
  std::optional<ExecPlugin> exec;
  /// Impersonate-User and -Group.
  std::string impersonate;
  std::vector<std::string> impersonate_groups;
};

/// What a user or a pod may say; flags before files, files before the pod.
struct ConfigSources {
  /// --kubeconfig; then no other file is looked at.
  std::string kubeconfig;
  /// In place of current-context, and of what the context names.
  std::string context, cluster, user, name_space;
  /// Of the process; KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST and _PORT are looked at.
  std::function<std::optional<std::string>(const char* name)> environment;
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

  static ConfigSources of_process();
};

struct Config {
  /// Empty within a pod.
  std::string context;
  /// What the context or the pod says, else `default`.
  std::string name_space = "default";
  Cluster cluster;
  Identity identity;
  /// To be told once, e.g. of a server that nobody checks.
  std::vector<std::string> warnings;
  /// The files that had a part in it, for messages.
  std::vector<std::string> files;

  /// kNotFound: no file, and no pod; kInvalidArgument names file and field, never a value that may be secret.
  static Result<Config> resolve(const ConfigSources& sources);
};

}  // namespace edge::kube
