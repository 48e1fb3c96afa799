// The agent's side of schemas/agent.proto: joins with a token, renews its certificate, receives programs and values,
// installs them, reports the results, and stores the last of them on disk, so that it serves after a restart without a
// controller. docs/agents.md, decision 0059.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/service.h"
#include "agent/sync/local_controller.h"
#include "base/labels.h"
#include "base/result.h"
#include "net/socket.h"
#include "program/sign.h"

namespace edge::agent {

struct SyncOptions {
  std::string controller;  ///< `HOST:PORT`
  std::string name;        ///< of the agent, unique among those of the controller
  std::string node{};      ///< empty: the machine's host name
  Labels labels{};         ///< sent to the controller, which selects by them
  /// The join file: token and CAs. Needed until there is a certificate in `data_dir`.
  std::string token_file{};
  /// Directory for identity, last program, endpoints, encrypted secrets. Created when missing (mode 0700).
  std::string data_dir;
  /// Key that programs must be signed with; nullopt: the one that the controller sends when the agent joins.
  std::optional<program::VerifyKey> key{};
  /// File of the key that encrypts secrets on disk; empty: in `data_dir`. Decision 0060.
  std::string seal_key_file{};
  /// Address for messages of other agents, which enables virtual addresses; nullopt: this agent has none. Port 0: there
  /// is no other agent.
  std::optional<net::SocketAddress> peer_listen{};
  /// The controller is part of this process: no certificate is read or asked for.
  bool without_certificate = false;
  /// null: the system's. For tests of expiry and rotation.
  std::function<std::chrono::system_clock::time_point()> clock{};
};

/// Works on threads of its own.
class Sync {
 public:
  /// `open`, then `connect` to the controller that `options` names.
  static Result<std::unique_ptr<Sync>> start(SyncOptions options, Service& service);
  /// Reads `data_dir` and installs what is stored there. `service` must outlive this object. Fails for an unusable data
  /// directory.
  static Result<std::unique_ptr<Sync>> open(SyncOptions options, Service& service);
  /// Connects, and keeps reconnecting with backoff. To be called once. Fails when there is neither a certificate nor a
  /// token.
  Status connect(std::string controller, std::string token_file);
  /// As above, to one in this process; `key` is that which its programs are signed with.
  void connect(ConnectLocally controller, program::VerifyKey key);
  /// Gives the site of the SD-WAN to the process that has taken over from this one.
  void leave_site();
  /// Ends the streams and waits for its threads.
  ~Sync();
  Sync(const Sync&) = delete;
  Sync& operator=(const Sync&) = delete;

 private:
  struct Impl;
  explicit Sync(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::agent
