// A controller in the agent's process: what it gives goes by pointer, and what the agent says is the messages of
// schemas/agent.proto as a connection would carry them. Whoever has both puts them together. Decision 0152.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/received/received_program.h"
#include "base/result.h"
#include "daemon/admin.h"
#include "program/values/value_set.h"

namespace edge::agent {

/// What the controller calls, from any thread.
struct FromLocalController {
  std::function<void(ProgramBytes bytes, const program::Hash& program, std::uint64_t values)> program;
  std::function<void(const program::ValueSet& values, std::uint64_t version, const program::Hash& program)> values;
  std::function<void(std::string message)> addresses;  ///< an AddressesDown
  std::function<void(std::string message)> links;      ///< a LinksDown
  std::function<void(const Error& why)> ended;
  /// `target`: a path and perhaps a query, of the agent's admin pages.
  std::function<daemon::AdminReply(const std::string& method, const std::string& target)> answer;
};

/// What the agent calls.
struct ToLocalController {
  std::function<void(const std::string& message)> applied;  ///< an Applied
  std::function<void(const program::Hash& program, const std::string& reason)> refused;
  std::function<void(std::uint64_t version)> values_applied;
  std::function<void(const std::string& message)> report;        ///< a Report
  std::function<void(const std::string& message)> report_links;  ///< a LinksReport; null: it takes none
  std::shared_ptr<void> connection;                              ///< ends when it is let go of
};

/// `hello`: a Hello.
using ConnectLocally = std::function<Result<ToLocalController>(const std::string& hello, FromLocalController from)>;

}  // namespace edge::agent
