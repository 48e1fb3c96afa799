// Programs from a controller: the agent's end of schemas/agent.proto. Joins with a token, renews its certificate, takes
// programs and values, applies them, says what became of them, and keeps the last of them on disk, so that it serves
// when it starts again without a controller. docs/agents.md, decision 0059.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/service.h"
#include "base/labels.h"
#include "base/result.h"
#include "net/socket.h"
#include "program/sign.h"

namespace edge::agent {

struct SyncOptions {
  std::string controller;  ///< `HOST:PORT`
  std::string name;        ///< of the agent, unique among those of the controller
  std::string node{};      ///< empty: the machine's host name
  Labels labels{};         ///< that the controller is told, and chooses by
  /// What the controller wrote for those who join: token and authorities. Needed until a certificate is in `data_dir`.
  std::string token_file{};
  /// Identity, last program, endpoints, sealed secrets. Made where it is missing (mode 0700).
  std::string data_dir;
  /// Key that programs must be signed with; nullopt: the one that the controller says when the agent joins.
  std::optional<program::VerifyKey> key{};
  /// Where the key that seals secrets on disk is kept; empty: in `data_dir`. Decision 0060.
  std::string seal_key_file{};
  /// Where words of other agents come, and virtual addresses are held; nullopt: this agent holds none. Port 0: there is
  /// no other agent.
  std::optional<net::SocketAddress> peer_listen{};
  /// The controller is part of this process: whatever is wrong with the certificate, the agent joins anew by itself.
  bool rejoins = false;
  /// null: the system's. For tests of expiry and rotation.
  std::function<std::chrono::system_clock::time_point()> clock{};
};

/// Works on threads of its own.
class Sync {
 public:
  /// `open`, then `connect`.
  static Result<std::unique_ptr<Sync>> start(SyncOptions options, Service& service);
  /// Reads `data_dir` and applies what was kept there. `service` must outlive it. Fails for a data directory that
  /// cannot be used.
  static Result<std::unique_ptr<Sync>> open(SyncOptions options, Service& service);
  /// Once, and for ever, with back-off. Fails when there is neither a certificate nor a token.
  Status connect(std::string controller, std::string token_file);
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
