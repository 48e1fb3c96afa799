// ~/.edgectl/config: contexts by name, each a cluster and a namespace, so that one name selects where commands go.
//
//   currentContext: prod
//   contexts: [{name: prod, cluster: main, namespace: shop}]
//   clusters: [{name: main, kubeconfig: /etc/edge/kubeconfig}]
//
// Contains paths and names, no secrets. Unknown fields are preserved when the file is rewritten; comments are not.
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
  std::string context{};      ///< in the kubeconfig; empty: its current one
  std::string controller{};   ///< HOST:PORT of its gRPC port, for commands about agents
  std::string credentials{};  ///< the administrator's file for that port
  std::string traces{};       ///< URL of the trace store; empty: through the controller
};

class ClientConfig {
 public:
  ClientConfig();
  /// A missing file is an empty configuration. kInvalidArgument names file, line and error.
  static Result<ClientConfig> read(const std::string& path);

  const std::string& current() const { return current_; }
  const std::vector<ClientContext>& contexts() const { return contexts_; }
  const std::vector<ClientCluster>& clusters() const { return clusters_; }
  /// nullptr when there is none of this name.
  const ClientContext* find_context(std::string_view name) const;
  const ClientCluster* find_cluster(std::string_view name) const;

  void set_current(std::string name) { current_ = std::move(name); }
  /// Updates the non-empty members of `context`; adds it when there is none of its name.
  void put(const ClientContext& context);
  void put(const ClientCluster& cluster);

  /// In the file's format.
  std::string yaml() const;
  std::string json() const;

 private:
  std::string merged_json() const;

  std::string text_;  ///< the text read, as JSON: its other fields are written back unchanged
  std::string current_;
  std::vector<ClientContext> contexts_;
  std::vector<ClientCluster> clusters_;
};

/// `$HOME/.edgectl/config`; empty without HOME.
std::string client_config_path();

/// Reads the file, calls `change`, and writes it, locked against other edgectl processes. The file is readable only by
/// the owner (0600, in a directory 0700) and replaced atomically. An Error of `change` leaves it unchanged.
Status change_client_config(const std::string& path, const std::function<Status(ClientConfig&)>& change);

}  // namespace edge::edgectl
