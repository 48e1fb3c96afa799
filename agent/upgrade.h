// Process upgrade without refused connections: the old process hands over its listening sockets, the new one reports
// when it serves, the old one then drains. docs/upgrades.md.
//
// The two communicate over a Unix socket (SOCK_SEQPACKET), with one request and its replies each:
//
//   new: edge-upgrade 1 sockets    old: listener <any|ADDRESS> <port> + descriptors, one or more packets each; end
//   new: edge-upgrade 3 sockets    old: the same, and datagrams <any|ADDRESS> <port> for those of UDP
//   new: edge-upgrade 1 ready      old: draining + the descriptors of its metrics and health ports
//   new: edge-upgrade 2 settled    old: drains and exits
//   new: edge-upgrade 4 sockets    old: as for 3
//   new: edge-upgrade 4 settled    old: receives no more datagrams; flow … + the socket to its endpoint, one packet for
//                                  each flow of UDP; end; then drains and exits
//
// A new process that exits before `ready` changes nothing. If it exits between `ready` and `settled`, the old one gets
// its ports back; both accept connections meanwhile, and the old one alone receives datagrams. A new process of an
// older version sends neither 4, nor 3, nor 2, nor `settled`, and an old one of an older version drains at `ready`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "net/socket.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// The old process's side. Answers on a thread of its own.
class UpgradeSocket {
 public:
  struct Owner {
    /// Returns duplicates of the listening sockets.
    std::function<std::vector<runtime::ListeningSockets>()> share;
    /// Called when the successor serves: releases resources that only one process can have. \returns sockets to hand
    /// over with them.
    std::function<std::vector<net::Fd>()> give_up;
    /// Called when the successor is settled, before `leave`: receives no more datagrams. \returns the flows.
    std::function<std::vector<runtime::HandedFlow>()> give_flows;
    /// Called when the successor is settled: drain.
    std::function<void()> leave;
    /// Called when the successor exited instead: `ports` are those of `give_up`.
    std::function<void(std::vector<net::Fd> ports)> take_back;
  };

  /// Replaces a stale socket at `path`. Only this user, and root, may connect.
  static Result<std::unique_ptr<UpgradeSocket>> open(const std::string& path, Owner owner);
  ~UpgradeSocket();
  UpgradeSocket(const UpgradeSocket&) = delete;
  UpgradeSocket& operator=(const UpgradeSocket&) = delete;

 private:
  /// Replaces a stale socket.
  static Result<net::Fd> listen(const std::string& path);
  UpgradeSocket(std::string path, net::Fd listener, net::Fd stop, Owner owner);
  void run();
  /// \returns whether the successor serves now.
  bool attend(int peer);
  bool send_sockets(int peer, bool with_udp);
  void send_flows(int peer);
  bool hand_over(int peer, bool until_settled);
  /// Returns the next message; nullopt when the peer has disconnected, or the thread should end.
  std::optional<std::string> next_message(int peer) const;

  std::string path_;
  net::Fd listener_;
  net::Fd stop_;  ///< eventfd: readable when the thread should end
  Owner owner_;
  std::thread thread_;
};

/// The new process's side: the process to take over from.
class Predecessor {
 public:
  /// nullopt: there is none. kUnavailable: it does not answer correctly.
  static Result<std::optional<Predecessor>> find(const std::string& path);

  /// Whether a process listens there now. What it hands over is asked of `find`.
  static bool exists(const std::string& path) {
    const auto found = find(path);
    return found && found->has_value();
  }

  Result<std::vector<runtime::ListeningSockets>> sockets();
  /// Reports that this process serves. Returns when the predecessor does not serve its admin ports any more. \returns
  /// the sockets of these ports. Until `settled` the predecessor takes them back when this process exits.
  Result<std::vector<net::Fd>> ready();
  /// Reports that this process stays: the predecessor drains. \returns its flows of UDP, once it receives no more
  /// datagrams; none where it is of an older version, or ends meanwhile.
  std::vector<runtime::HandedFlow> settled();

 private:
  Predecessor(std::string path, net::Fd connection) : path_(std::move(path)), connection_(std::move(connection)) {}

  std::string path_;
  net::Fd connection_;
  bool settles_ = true;  ///< the predecessor supports `settled`
  bool gives_flows_ = true;
};

}  // namespace edge::agent
