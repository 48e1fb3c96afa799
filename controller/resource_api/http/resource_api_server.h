// The embedded resource API as a server: the Api over HTTPS, with discovery, OpenAPI and authorization. Compatible with
// kubectl, client-go and the controller's client.
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

namespace edge::net {
class Loop;
}

namespace edge::resource_api::http {

struct ResourceApiOptions {
  /// Contains the database, the directory `api` (credentials.h), and `kubeconfig`.
  std::string data_dir;
  /// No address: every address of the node.
  std::optional<IpAddress> address = parse_ip("127.0.0.1");
  std::uint16_t port = 6443;  ///< 0: the system chooses
  std::string listen_flag{};  ///< the flag that sets address and port, for error messages
  /// Further names and addresses by which clients reach it.
  std::vector<std::string> hosts{};
  ApiLimits limits{};
  /// Gets log messages, one per call: rejected requests, and messages for the operator. On the server's thread. May be
  /// null.
  Logger log{};
};

/// Has a thread and an event loop of its own. Threads: any.
class ResourceApiServer {
 public:
  /// Opens the Api, listens and writes `<data_dir>/kubeconfig`. Fails as Api::open, and with kUnavailable when the
  /// address cannot be bound.
  static Result<std::unique_ptr<ResourceApiServer>> start(ResourceApiOptions options);
  /// Finishes requests, ends watches, and closes the database.
  ~ResourceApiServer();
  ResourceApiServer(const ResourceApiServer&) = delete;
  ResourceApiServer& operator=(const ResourceApiServer&) = delete;

  std::uint16_t port() const;
  /// `https://127.0.0.1:6443`.
  const std::string& url() const;
  const std::string& kubeconfig() const;
  /// Returns a token for parts of this process, in place of the kubeconfig's certificate: the administrator's, valid
  /// until the process ends.
  const std::string& own_token() const;
  /// Opens a connection to the server within this process. Any thread, until destruction.
  Result<net::Fd> dial();
  /// That it runs on. What else lives on it ends before the server is destroyed.
  net::Loop& loop();
  /// Api::began_empty.
  bool began_empty() const;
  void write_metrics(metrics::Exposition& out) const;

 private:
  struct Impl;
  explicit ResourceApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::resource_api::http
