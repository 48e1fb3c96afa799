// One connection to a controller: by gRPC its streams, read by threads of their own into the inbox, until one of
// them ends; within a process calls of functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/sync/agent_store.h"
#include "agent/sync/inbox.h"
#include "agent/sync/local_controller.h"
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
  /// Takes names that clients ask for (runtime::Server::take_wanted_names).
  std::function<std::vector<runtime::WantedName>(std::size_t most)> wanted;
  /// Takes a message with virtual addresses; false ends the session.
  std::function<bool(const std::string& message)> addresses;
  /// Takes a message with links of the SD-WAN, a LinksDown; false ends the session.
  std::function<bool(const std::string& message)> links{};
  /// Returns a LinksReport; empty: there is nothing to report.
  std::function<std::string()> links_report{};
  /// Whose rate limits of scope Cluster are shared; null: nobody's. Outlives the session.
  runtime::Server* limits = nullptr;
};

class SyncSession {
 public:
  /// Breaks the session off.
  virtual ~SyncSession() = default;
  SyncSession(const SyncSession&) = delete;
  SyncSession& operator=(const SyncSession&) = delete;

  /// `running` is at work now: its hash is told, and what comes builds on it.
  virtual void applied(const program::Hash& program, ProgramBytes running) = 0;
  virtual void refused(const program::Hash& program, const std::string& reason) = 0;
  virtual void values_applied(std::uint64_t version) = 0;
  /// Called several times a second by the thread that installs.
  virtual void tick() = 0;
  /// A certificate for `request`, by this connection.
  virtual Result<Identity> renew(const std::string& request) = 0;

 protected:
  SyncSession() = default;
};

/// Connects by gRPC, as `identity` says who we are. Fails when nobody can be reached within a few seconds, or `inbox`
/// is stopped. Programs and values go into `inbox`; `trusted` is called, on another thread, when the controller says
/// whom to believe from now on.
Result<std::unique_ptr<SyncSession>> open_remote_session(
    const std::string& controller, const Identity& identity, AgentWords words, ReportSource reports, SyncInbox& inbox,
    std::function<void(std::string authorities, std::string key)> trusted);

/// With a controller in this process.
Result<std::unique_ptr<SyncSession>> open_local_session(const ConnectLocally& connect, AgentWords words,
                                                        ReportSource reports, SyncInbox& inbox);

/// A first certificate: by the token, from the controller that one of `authorities` vouches for. The key stays with who
/// made `request`.
Result<Identity> join(const std::string& controller, const std::string& authorities, const std::string& token,
                      const std::string& name, const std::string& request);

}  // namespace edge::agent
