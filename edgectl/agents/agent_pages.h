// What agents say on their admin ports: of all agents or one by way of the controller, or of one whose address is
// given, on this machine.
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
  /// By `--agent`: an address is asked itself, a name by the controller; all of the controller's agents without it.
  /// Without it and without an administrator's file: the agent on this machine. nullptr: stderr says why, and `exit`
  /// how to end.
  static std::unique_ptr<AgentPages> open(std::string_view command, const cli::Arguments& arguments, int& exit);
  /// The same, saying nothing.
  static Result<std::unique_ptr<AgentPages>> open(const cli::Arguments& arguments);

  struct Said {
    std::string agent;  ///< its name, or its address
    Result<controller::AgentAnswer> answer;
  };
  /// One a connected agent, ascending by name. kUnavailable: the controller cannot be asked which there are.
  Result<std::vector<Said>> ask(const controller::AgentQuestion& question);
  /// Whom `ask` would ask.
  Result<std::vector<std::string>> names();
  /// Of them, those of a node. Precondition: controlled().
  Result<std::vector<std::string>> names_on(const std::string& node);
  /// Whether the controller is asked, not an address.
  bool controlled() const { return controller_ != nullptr; }
  Said ask_one(const std::string& agent, const controller::AgentQuestion& question);
  /// The body of a 200, and else an Error that says what there was.
  static Result<std::string> body_of(const Said& said);

 private:
  AgentPages() = default;

  std::unique_ptr<controller::InspectClient> controller_;  ///< null: `one_` is an address
  std::string one_;                                        ///< empty: all
};

}  // namespace edge::edgectl
