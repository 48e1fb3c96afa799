// edgectl's client for a controller's inspect calls. Blocking; each call has the deadline of the options.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "controller/distribute/agents/agent_state.h"
#include "controller/distribute/progress.h"

namespace edge::controller {

struct InspectOptions {
  std::string controller;  ///< `HOST:PORT` of its gRPC port; empty: the one in the administrator's file
  /// The administrator's file: key, certificate and authorities in one PEM (`<data-dir>/agents/admin.pem`).
  std::string credentials_file;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

/// Not thread-safe. kUnavailable: unreachable; kUnauthenticated, kPermissionDenied: the file's credentials are
/// rejected.
class InspectClient {
 public:
  static Result<std::unique_ptr<InspectClient>> open(const InspectOptions& options);
  ~InspectClient();
  InspectClient(const InspectClient&) = delete;
  InspectClient& operator=(const InspectClient&) = delete;

  struct Agents {
    std::string published;  ///< hash of the program published to the group `default`, hex
    std::string version;    ///< of the controller
    std::vector<AgentState> agents;
  };
  /// Ascending by name, without backends and VIPs.
  Result<Agents> agents();
  /// With backends and VIPs. kNotFound.
  Result<AgentState> agent(const std::string& name);
  /// Returns the bytes of the program that an agent runs: for `agent config` and `routes dump`, by program::read and
  /// program/dump/dump.h. kFailedPrecondition when the controller does not have that program any more.
  Result<std::vector<std::byte>> program(const std::string& agent);
  /// Returns the bytes of a program of the history, by its hash. kNotFound; kUnimplemented: an older controller.
  Result<std::vector<std::byte>> kept_program(const std::string& hash);
  /// Returns the progress of these changes, and what each connected agent runs. kUnimplemented: an older controller.
  Result<Progress> progress(const std::vector<ObjectVersion>& objects);
  /// Requests a page of an agent's admin port; of the controller's own when `agent` is empty. kUnavailable: the agent
  /// is not connected; kUnimplemented: the controller is too old.
  Result<AgentAnswer> ask(const std::string& agent, const AgentQuestion& question);
  /// Returns the text of a join file for an agent of this name, which may have a new key: valid for a day and one key.
  /// kUnimplemented: an older controller.
  Result<std::string> join_file(const std::string& agent);
  /// Revokes this agent's certificates and ends its streams. It may join again with the token.
  Status revoke(const std::string& agent);

  /// What another cluster joins with: a first certificate, valid for so long, in parts and as a file.
  struct Invitation {
    std::string certificate, key, authorities, text;
    /// Certificates that were issued until then are refused; the epoch: an older controller does not say.
    std::chrono::system_clock::time_point revoked_until{};
  };
  /// `hub`: `HOST:PORT`, as the other cluster reaches the controller. Earlier certificates of the name are refused from
  /// then on. kUnimplemented: an older controller.
  Result<Invitation> invite_remote(const std::string& name, const std::string& hub, std::chrono::seconds lifetime);
  /// Revokes a cluster's certificates and ends its connection with that controller. \returns as revoked_until.
  Result<std::chrono::system_clock::time_point> revoke_remote(const std::string& name);

  /// Returns the history of a group. kUnimplemented: an older controller, which supports only `default`.
  Result<std::vector<HistoryEntry>> history(const std::string& group = std::string(kDefaultGroup));
  Status rollback(const std::string& group, const std::string& program);
  Status release(const std::string& group);

 private:
  struct Impl;
  explicit InspectClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
