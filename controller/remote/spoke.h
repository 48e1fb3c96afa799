// The spoke's side of schemas/remote.proto: connects out to the hub, stays connected, renews its certificate. It needs
// nothing of the hub to serve: agents go on with the cluster's own programs, whatever becomes of the connection.
//
// `<data-dir>/hub.pem` (mode 0600; of an object `hub-NAMESPACE-NAME.pem`) has the certificate of now, its key, and whom
// to believe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "controller/authority/certificates.h"
#include "controller/distribute/agent_answer.h"
#include "controller/remote/phase.h"
#include "controller/remote/traffic.h"
#include "controller/remote/tunnel.h"

namespace edge::controller::remote {

struct SpokeOptions {
  std::string hub{};        ///< `HOST:PORT`; empty: as the join file says
  std::string join_file{};  ///< needed until there is a certificate in `data_dir`
  /// What a join file would say, in place of one.
  std::string join_text{};
  std::string data_dir;
  std::string file = "hub.pem";  ///< in it
  std::string cluster_uid;
  std::string version;
  /// What is told of this cluster; any thread.
  std::function<Report()> own{};
  /// Called after what statuses show of it changed: gather, do not work; null: nobody is told.
  std::function<void()> changed{};
  /// Whether this controller is the one that speaks for its cluster; null: it is.
  std::function<bool()> leads{};
  /// Where the hub's frames go; null: there is no tunnel. Must outlive the spoke.
  Tunnels* tunnels = nullptr;
  /// Answers what the hub's administrators ask; null: the hub may ask nothing. Called on threads of the spoke.
  std::function<AgentAnswer(const AgentQuestion&)> answer{};
  /// What is told and heard of services between clusters; null: nothing. Must outlive the spoke.
  Traffic* traffic = nullptr;
  Logger log{};
  std::function<WallTime()> clock{};  ///< null: the system's
};

struct SpokeView {
  std::string hub;
  std::string cluster;  ///< this cluster's name at the hub
  PhaseView phase;
  std::string version{};           ///< of the hub
  std::string cluster_uid{};       ///< of the hub
  std::optional<Report> report{};  ///< of the hub
  WallTime heard{};                ///< when the phase was last another, or a minute ago at most
  WallTime certificate_until{};
  net::Duration round_trip{};
  std::uint64_t connections = 0;  ///< in this run
};

/// Thread-safe.
class Spoke {
 public:
  /// Fails when there is neither a certificate nor a join file that can be read; not when the hub is unreachable.
  static Result<std::unique_ptr<Spoke>> start(SpokeOptions options);
  /// Says goodbye.
  ~Spoke();
  Spoke(const Spoke&) = delete;
  Spoke& operator=(const Spoke&) = delete;

  SpokeView view() const;

 private:
  struct Impl;
  explicit Spoke(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller::remote
