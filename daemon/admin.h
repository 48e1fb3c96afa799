// The small server of a daemon behind /metrics, the health checks and /debug. Cold: one thread for all of its ports,
// which gives way to those that serve; a bound on connections, a deadline on each.
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
#include "net/server/http_server.h"
#include "net/socket.h"

namespace edge::daemon {

using AdminRequest = net::server::Request;
using AdminReply = net::server::Reply;

/// Answers what it knows; nullopt: 404. It must not wait: the thread is that of the health checks.
using AdminHandler = std::function<std::optional<AdminReply>(const AdminRequest&)>;
/// The same, and may wait on the admin thread's loop.
using WaitingHandler = std::function<net::Task<AdminReply>(net::Loop&, const AdminRequest&)>;

AdminReply text_reply(int status, std::string body);
/// As a handler that waits: with what is answered to who asks too often (429). Nothing that it says is to be stored.
WaitingHandler at_once(AdminHandler handler);

struct ListenAddress {
  IpAddress address;
  std::uint16_t port = 0;
};
/// `127.0.0.1:9090`, `[::1]:9090`, `:9090` (every address). Port 0: the system chooses.
std::optional<ListenAddress> parse_listen_address(std::string_view text);
std::string to_string(const ListenAddress& address);
bool is_loopback(const IpAddress& address);

struct AdminPort {
  ListenAddress listen;
  WaitingHandler handler;
  std::string flag = {};  ///< what chooses the address, for whoever cannot have it
};

class AdminServer {
 public:
  /// kUnavailable names the address that could not be bound, and its flag. `inherited`: of a process before this one;
  /// what listens where a port is wanted is taken, the rest is closed.
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

}  // namespace edge::daemon
