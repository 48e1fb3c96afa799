// What edgectl asks a controller about its agents. Blocking; each call has the deadline of the options.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "controller/distribute/agent_state.h"
#include "controller/distribute/progress.h"

namespace edge::controller {

struct InspectOptions {
  std::string controller;  ///< `HOST:PORT` of its gRPC port; empty: as the administrator's file says
  /// The administrator's file: key, certificate and authorities in one PEM (`<data-dir>/agents/admin.pem`).
  std::string credentials_file;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

/// One thread at a time. kUnavailable: cannot be reached; kUnauthenticated, kPermissionDenied: not with this file.
class InspectClient {
 public:
  static Result<std::unique_ptr<InspectClient>> open(const InspectOptions& options);
  ~InspectClient();
  InspectClient(const InspectClient&) = delete;
  InspectClient& operator=(const InspectClient&) = delete;

  struct Agents {
    std::string published;  ///< hash of the program that those of `default` shall run, hex
    std::string version;    ///< of the controller
    std::vector<AgentState> agents;
  };
  /// Ascending by name, without backends and VIPs.
  Result<Agents> agents();
  /// With backends and VIPs. kNotFound.
  Result<AgentState> agent(const std::string& name);
  /// The bytes of the program that it runs: for `agent config` and `routes dump`, by program::read and
  /// program/dump/dump.h. kFailedPrecondition when it runs one that the controller has no longer.
  Result<std::vector<std::byte>> program(const std::string& agent);
  /// How far these changes have come, and what each connected agent runs. kUnimplemented: an older controller.
  Result<Progress> progress(const std::vector<ObjectVersion>& objects);
  /// What an agent says to a question of its admin port; of the controller itself when `agent` is empty. kUnavailable:
  /// it is not connected; kUnimplemented: the controller is too old.
  Result<AgentAnswer> ask(const std::string& agent, const AgentQuestion& question);
  /// Text of a join file for an agent of this name, which it may have another key for: good for a day and one key.
  /// kUnimplemented: an older controller.
  Result<std::string> join_file(const std::string& agent);
  /// No certificate of this agent is taken any more, and its streams end. It may join anew with the token.
  Status revoke(const std::string& agent);

  /// Of a group. kUnimplemented: an older controller, which knows of `default` alone.
  Result<std::vector<HistoryEntry>> history(const std::string& group = std::string(kDefaultGroup));
  Status rollback(const std::string& group, const std::string& program);
  Status release(const std::string& group);

 private:
  struct Impl;
  explicit InspectClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
