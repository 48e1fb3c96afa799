// One connection to a controller: its five streams, read by threads of their own into the inbox, until one of them
// ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/sync/agent_store.h"
#include "agent/sync/inbox.h"
#include "agent/vip/addresses.h"
#include "base/labels.h"
#include "base/result.h"
#include "daemon/admin.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// Of schemas/agent.proto; controller/distribute/protocol.h has the same.
inline constexpr std::uint32_t kNewestProtocol = 1;
inline constexpr std::uint32_t kOldestProtocol = 1;

/// What an agent says of itself.
struct AgentWords {
  std::string node;
  Labels labels;
  std::string instance;      ///< of this process
  std::string peer_address;  ///< where other agents are heard; empty: nowhere
  program::Hash program{};   ///< that runs
  ProgramBytes running;      ///< its bytes; null: none runs
};

/// How it is, for reports and for who asks; from any thread.
struct ReportSource {
  std::function<std::vector<runtime::BackendStatus>()> backends;
  std::function<runtime::ServerStats()> stats;
  std::function<std::vector<runtime::UnboundListener>()> unbound;
  daemon::AdminHandler answer;
  std::function<std::vector<vip::AddressState>()> vips;
  /// Takes a message with virtual addresses; false ends the session.
  std::function<bool(const std::string& message)> addresses;
};

class SyncSession {
 public:
  /// Connects, as `identity` says who we are. Fails when nobody can be reached within a few seconds, or `inbox` is
  /// stopped. Programs and values go into `inbox`; `trusted` is called, on another thread, when the controller says
  /// whom to believe from now on.
  static Result<std::unique_ptr<SyncSession>> open(
      const std::string& controller, const Identity& identity, AgentWords words, ReportSource reports, SyncInbox& inbox,
      std::function<void(std::string authorities, std::string key)> trusted);
  /// Breaks the streams off.
  ~SyncSession();
  SyncSession(const SyncSession&) = delete;
  SyncSession& operator=(const SyncSession&) = delete;

  /// `running` is at work now: its hash is told, and what comes builds on it.
  void applied(const program::Hash& program, ProgramBytes running);
  void refused(const program::Hash& program, const std::string& reason);
  void values_applied(std::uint64_t version);

  /// A certificate for `request`, by this connection.
  Result<Identity> renew(const std::string& request);

 private:
  struct Impl;
  explicit SyncSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A first certificate: by the token, from the controller that one of `authorities` vouches for. The key stays with who
/// made `request`.
Result<Identity> join(const std::string& controller, const std::string& authorities, const std::string& token,
                      const std::string& name, const std::string& request);

}  // namespace edge::agent
