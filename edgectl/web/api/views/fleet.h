// The agents, their traffic and the history of programs, as edgectl's other commands read them: through the controller,
// else from the agent of this machine.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/flags.h"
#include "controller/distribute/inspect_client.h"
#include "edgectl/agents/agent_pages.h"

namespace edge::edgectl::web {

/// Longest name of a group of agents that is asked for: values of labels have less.
inline constexpr std::size_t kLongestGroup = 253;

/// Every call blocks for some seconds at most, and returns one line of JSON. For one thread at a time. kUnavailable
/// where neither a controller nor an agent answers.
class Fleet {
 public:
  explicit Fleet(cli::Arguments arguments) : arguments_(std::move(arguments)) {}

  Result<std::string> agents();
  /// With backends and virtual addresses. kNotFound.
  Result<std::string> agent(const std::string& name);
  /// An empty group: `default`.
  Result<std::string> history(const std::string& group);
  /// Returns the endpoints that agents know, with the number of agents that take each for healthy; of a few agents, as
  /// they check the same.
  Result<std::string> endpoints();
  /// Returns the bytes of a program of the history.
  Result<std::string> program(const std::string& hash);
  /// How far changes have come (progress_json).
  Result<std::string> progress(const std::vector<controller::ObjectVersion>& objects);
  /// Has a group's agents run a program of the history, or what the resources say again. An empty group: `default`.
  Result<std::string> roll_back(const std::string& group, const std::string& program);
  Result<std::string> release(const std::string& group);
  /// Has an agent give its virtual addresses away, or allows it to hold some again.
  Result<std::string> set_drained(const std::string& agent, bool drained);
  /// Returns the traffic of the last seconds by route and backend, and of the last five minutes as a line.
  Result<std::string> traffic();

 private:
  Result<controller::InspectClient*> controller();
  /// Opens the connection anew at the next call where this one failed for it.
  Error forgotten(Error error);

  cli::Arguments arguments_;
  std::unique_ptr<controller::InspectClient> controller_;
  std::unique_ptr<AgentPages> pages_;
};

}  // namespace edge::edgectl::web
