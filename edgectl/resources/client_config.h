// ~/.edgectl/config: contexts by name, each a cluster and a namespace, so that one word chooses where commands go.
//
//   currentContext: prod
//   contexts: [{name: prod, cluster: main, namespace: shop}]
//   clusters: [{name: main, kubeconfig: /etc/edge/kubeconfig}]
//
// It holds paths and names, no secret. Fields that are not known here are kept when the file is rewritten; comments are
// not.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::edgectl {

struct ClientContext {
  std::string name{};
  std::string cluster{};
  std::string name_space{};
};

struct ClientCluster {
  std::string name{};
  std::string kubeconfig{};   ///< path; empty: the user's default
  std::string context{};      ///< within the kubeconfig; empty: its current one
  std::string controller{};   ///< HOST:PORT of its gRPC port, for what agents are asked about
  std::string credentials{};  ///< the administrator's file for that port
  std::string traces{};       ///< URL where traces are asked for; empty: the controller
};

class ClientConfig {
 public:
  ClientConfig();
  /// A file that is not there is an empty configuration. kInvalidArgument names file, line and what is wrong.
  static Result<ClientConfig> read(const std::string& path);

  const std::string& current() const { return current_; }
  const std::vector<ClientContext>& contexts() const { return contexts_; }
  const std::vector<ClientCluster>& clusters() const { return clusters_; }
  /// nullptr when there is none of this name.
  const ClientContext* find_context(std::string_view name) const;
  const ClientCluster* find_cluster(std::string_view name) const;

  void set_current(std::string name) { current_ = std::move(name); }
  /// Replaces what is not empty in `context`; adds it when there is none of its name.
  void put(const ClientContext& context);
  void put(const ClientCluster& cluster);

  /// As the file has it.
  std::string yaml() const;
  std::string json() const;

 private:
  std::string merged_json() const;

  std::string text_;  ///< what was read, as JSON: what else it holds goes back as it was
  std::string current_;
  std::vector<ClientContext> contexts_;
  std::vector<ClientCluster> clusters_;
};

/// `$HOME/.edgectl/config`; empty without HOME.
std::string client_config_path();

/// Reads, lets `change` have its way, and writes, while no other edgectl does so. The file is its owner's alone (0600,
/// in a directory 0700) and is replaced as a whole. An Error of `change` leaves it as it is.
Status change_client_config(const std::string& path, const std::function<Status(ClientConfig&)>& change);

}  // namespace edge::edgectl
