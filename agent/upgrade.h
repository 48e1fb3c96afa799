// One process takes over from another without a refused connection: the old one hands its listening sockets over, the
// new one says when it serves, the old one then drains. docs/upgrades.md.
//
// The two talk over a Unix socket of packets (SOCK_SEQPACKET), one question and its answers each:
//
//   new: edge-upgrade 1 sockets    old: listener <any|ADDRESS> <port> + descriptors, one or more packets each; end
//   new: edge-upgrade 1 ready      old: draining + the descriptors of its metrics and health ports
//   new: edge-upgrade 2 settled    old: drains and goes
//
// A new process that goes away before it is ready changes nothing. One that goes away between `ready` and `settled`
// gives the old one its ports back; both accept connections meanwhile. A new process of an older version says neither 2
// nor `settled`, and an old one of an older version drains at `ready`.
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

/// The old process' side. Answers on a thread of its own.
class UpgradeSocket {
 public:
  struct Owner {
    /// What is listened on now, as duplicates.
    std::function<std::vector<runtime::ListeningSockets>()> share;
    /// The successor serves. Whatever it needs that only one process can have is given up here. \returns sockets that
    /// are handed over with it.
    std::function<std::vector<net::Fd>()> give_up;
    /// It is sure to go on: drain.
    std::function<void()> leave;
    /// It is gone instead: `ports` are those of `give_up`.
    std::function<void(std::vector<net::Fd> ports)> take_back;
  };

  /// Takes the place of a socket that is left over at `path`. Only this user, and root, may connect.
  static Result<std::unique_ptr<UpgradeSocket>> open(const std::string& path, Owner owner);
  ~UpgradeSocket();
  UpgradeSocket(const UpgradeSocket&) = delete;
  UpgradeSocket& operator=(const UpgradeSocket&) = delete;

 private:
  /// Takes the place of a socket that is left over there.
  static Result<net::Fd> listen(const std::string& path);
  UpgradeSocket(std::string path, net::Fd listener, net::Fd stop, Owner owner);
  void run();
  /// \returns whether the successor serves now.
  bool attend(int peer);
  bool send_sockets(int peer);
  bool hand_over(int peer, bool until_settled);
  /// The next message; nullopt when the peer is gone, or the thread shall end.
  std::optional<std::string> next_message(int peer) const;

  std::string path_;
  net::Fd listener_;
  net::Fd stop_;  ///< eventfd: readable when the thread shall end
  Owner owner_;
  std::thread thread_;
};

/// The new process' side: the one that serves until we do.
class Predecessor {
 public:
  /// nullopt: nobody is there. kUnavailable: somebody is, and does not answer as it should.
  static Result<std::optional<Predecessor>> find(const std::string& path);

  Result<std::vector<runtime::ListeningSockets>> sockets();
  /// Says that this process serves. Returns when the predecessor does not answer on its own ports any more. \returns
  /// the sockets of these ports. Until `settled` the predecessor takes them back when this process ends.
  Result<std::vector<net::Fd>> ready();
  /// This process goes on: the predecessor drains.
  void settled();

 private:
  Predecessor(std::string path, net::Fd connection) : path_(std::move(path)), connection_(std::move(connection)) {}

  std::string path_;
  net::Fd connection_;
  bool settles_ = true;  ///< the predecessor knows of `settled`
};

}  // namespace edge::agent
