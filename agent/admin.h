// The small HTTP server behind /metrics, /healthz and /readyz. Cold: one thread for all of its ports, a bound on
// connections, a deadline on each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent {

struct AdminReply {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// Answers GET and HEAD of a path; nullopt: 404. Runs on the admin thread.
using AdminHandler = std::function<std::optional<AdminReply>(std::string_view path)>;
/// Answers POST. A page in a browser on this machine cannot reach it: what names an Origin is refused.
using AdminAction = std::function<std::optional<AdminReply>(std::string_view path, std::string_view query)>;

struct ListenAddress {
  IpAddress address;
  std::uint16_t port = 0;
};
/// `127.0.0.1:9090`, `[::1]:9090`, `:9090` (every address). Port 0: the system chooses.
std::optional<ListenAddress> parse_listen_address(std::string_view text);
std::string to_string(const ListenAddress& address);

struct AdminPort {
  ListenAddress listen;
  AdminHandler handler;
  AdminAction action = {};  ///< null: GET and HEAD alone
};

class AdminServer {
 public:
  /// kUnavailable names the address that could not be bound. `inherited`: of a process before this one; what listens
  /// where a port is wanted is taken, the rest is closed.
  static Result<std::unique_ptr<AdminServer>> start(std::vector<AdminPort> ports, std::vector<net::Fd> inherited = {});
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// What was bound, one a port, in the order given.
  const std::vector<ListenAddress>& addresses() const;
  /// Stops, and gives its listening sockets away: who waits in their queues is answered by whoever listens on.
  std::vector<net::Fd> give_up();

 private:
  struct Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent
