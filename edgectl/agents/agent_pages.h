// Fetches pages of agents' admin ports: of all agents or one through the controller, or of one at a given address, on
// this machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"
#include "controller/distribute/inspect_client.h"

namespace edge::edgectl {

/// --agent, --controller and --credentials.
std::vector<cli::Flag> agent_page_flags();

class AgentPages {
 public:
  /// Opens as `--agent` says: an address is contacted directly, a name through the controller; all of the controller's
  /// agents without it. Without it and without an administrator's file: the agent on this machine. nullptr: stderr says
  /// why, and `exit` is the exit code.
  static std::unique_ptr<AgentPages> open(std::string_view command, const cli::Arguments& arguments, int& exit);
  /// The same without output.
  static Result<std::unique_ptr<AgentPages>> open(const cli::Arguments& arguments);

  struct Said {
    std::string agent;  ///< its name, or its address
    Result<controller::AgentAnswer> answer;
  };
  /// Returns one result per connected agent, ascending by name. kUnavailable: the controller cannot be asked for its
  /// agents.
  Result<std::vector<Said>> ask(const controller::AgentQuestion& question);
  /// Returns the agents that `ask` contacts.
  Result<std::vector<std::string>> names();
  /// Returns those of them on a node. Precondition: controlled().
  Result<std::vector<std::string>> names_on(const std::string& node);
  /// Returns whether pages are fetched through the controller.
  bool controlled() const { return controller_ != nullptr; }
  Said ask_one(const std::string& agent, const controller::AgentQuestion& question);
  /// Returns the body of a 200, else an Error that describes the response.
  static Result<std::string> body_of(const Said& said);

 private:
  AgentPages() = default;

  std::unique_ptr<controller::InspectClient> controller_;  ///< null: `one_` is an address
  std::string one_;                                        ///< empty: all
};

}  // namespace edge::edgectl
