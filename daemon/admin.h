// The admin server of a daemon, for /metrics, health checks and /debug. One low-priority thread for all of its ports; a
// limit of connections, a deadline on each.
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

/// Answers known paths; nullopt: 404. Must not block: it runs on the thread of the health checks.
using AdminHandler = std::function<std::optional<AdminReply>(const AdminRequest&)>;
/// The same, and may wait on the admin thread's loop.
using WaitingHandler = std::function<net::Task<AdminReply>(net::Loop&, const AdminRequest&)>;

AdminReply text_reply(int status, std::string body);
/// Converts to a waiting handler, and adds rate limiting (429). Responses are marked as not to be stored.
WaitingHandler at_once(AdminHandler handler);

struct ListenAddress {
  IpAddress address;
  std::uint16_t port = 0;
};
/// Parses `127.0.0.1:9090`, `[::1]:9090`, `:9090` (every address). Port 0: chosen by the system.
std::optional<ListenAddress> parse_listen_address(std::string_view text);
std::string to_string(const ListenAddress& address);
bool is_loopback(const IpAddress& address);

struct AdminPort {
  ListenAddress listen;
  WaitingHandler handler;
  std::string flag = {};  ///< the flag that sets the address, for error messages
};

class AdminServer {
 public:
  /// kUnavailable names the address that could not be bound, and its flag. `inherited`: from the predecessor; sockets
  /// that match a port are used, others are closed.
  static Result<std::unique_ptr<AdminServer>> start(std::vector<AdminPort> ports, std::vector<net::Fd> inherited = {});
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  /// Returns the bound addresses, one per port, in the order given.
  const std::vector<ListenAddress>& addresses() const;
  /// Stops, and returns its listening sockets: connections in their queues are answered by the next owner.
  std::vector<net::Fd> give_up();

 private:
  struct Impl;
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::daemon
