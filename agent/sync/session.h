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

/// Versions of schemas/agent.proto; the same as in controller/distribute/protocol.h.
inline constexpr std::uint32_t kNewestProtocol = 1;
inline constexpr std::uint32_t kOldestProtocol = 1;

/// An agent's Hello.
struct AgentWords {
  std::string node;
  Labels labels;
  std::string instance;      ///< of this process
  std::string peer_address;  ///< its address for other agents; empty: none
  program::Hash program{};   ///< the running one
  ProgramBytes running;      ///< its bytes; null: none
};

/// The source of reports and of admin pages; threads: any.
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
  /// Connects with `identity`. Fails when the controller cannot be reached within a few seconds, or `inbox` is stopped.
  /// Programs and values are put into `inbox`; `trusted` is called, on another thread, with the CAs to trust from now
  /// on.
  static Result<std::unique_ptr<SyncSession>> open(
      const std::string& controller, const Identity& identity, AgentWords words, ReportSource reports, SyncInbox& inbox,
      std::function<void(std::string authorities, std::string key)> trusted);
  /// Cancels the streams.
  ~SyncSession();
  SyncSession(const SyncSession&) = delete;
  SyncSession& operator=(const SyncSession&) = delete;

  /// Reports that `running` was installed: later programs may be sent as differences to it.
  void applied(const program::Hash& program, ProgramBytes running);
  void refused(const program::Hash& program, const std::string& reason);
  void values_applied(std::uint64_t version);

  /// Requests a certificate for `request` over this connection.
  Result<Identity> renew(const std::string& request);

 private:
  struct Impl;
  explicit SyncSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Requests a first certificate with the token, from the controller verified by `authorities`. The private key stays
/// with the caller.
Result<Identity> join(const std::string& controller, const std::string& authorities, const std::string& token,
                      const std::string& name, const std::string& request);

}  // namespace edge::agent
