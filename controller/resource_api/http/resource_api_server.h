// The embedded resource API as a server: the Api over HTTPS, with discovery, OpenAPI and who may do what around it.
// What kubectl, client-go and our own client take for a Kubernetes API server.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/log.h"
#include "base/result.h"
#include "controller/resource_api/api.h"
#include "metrics/exposition.h"
#include "net/socket.h"

namespace edge::resource_api::http {

struct ResourceApiOptions {
  /// Holds the database, the directory `api` with what credentials.h says, and `kubeconfig`.
  std::string data_dir;
  /// No address: every address of the node.
  std::optional<IpAddress> address = parse_ip("127.0.0.1");
  std::uint16_t port = 6443;  ///< 0: the system chooses
  std::string listen_flag{};  ///< what chooses them, for whoever cannot have them
  /// Further names and addresses by which clients reach it.
  std::vector<std::string> hosts{};
  ApiLimits limits{};
  /// One line a call: who was refused what, and what an operator should know. On the server's thread. Null: nobody.
  Logger log{};
};

/// With a thread and a loop of its own. From any thread.
class ResourceApiServer {
 public:
  /// Opens the Api, listens and writes `<data_dir>/kubeconfig`. Fails as Api::open does, and with kUnavailable when the
  /// address cannot be bound.
  static Result<std::unique_ptr<ResourceApiServer>> start(ResourceApiOptions options);
  /// Lets requests end, ends watches, and closes the database.
  ~ResourceApiServer();
  ResourceApiServer(const ResourceApiServer&) = delete;
  ResourceApiServer& operator=(const ResourceApiServer&) = delete;

  std::uint16_t port() const;
  /// `https://127.0.0.1:6443`.
  const std::string& url() const;
  const std::string& kubeconfig() const;
  /// What parts of this process show in place of the kubeconfig's certificate: an administrator's, until it ends.
  const std::string& own_token() const;
  /// Opens a connection to it within this process. From any thread, until it is destroyed.
  Result<net::Fd> dial();
  /// Api::began_empty.
  bool began_empty() const;
  void write_metrics(metrics::Exposition& out) const;

 private:
  struct Impl;
  explicit ResourceApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::resource_api::http
