#include <string>
#include <vector>

#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/input.h"
#include "program/dump/dump.h"

namespace edge::edgectl {

int routes_dump(const cli::Arguments& arguments) {
  std::vector<std::string> paths = arguments.all("file");
  const std::string agent = arguments.one("agent");
  if (!agent.empty()) {
    if (arguments.has("PROGRAM") || !paths.empty()) {
      cli::print_error("edgectl routes dump", "--agent goes with neither a program nor configuration");
      return cli::kExitUsage;
    }
    // A name is the controller's to answer for; an address is asked itself.
    if (agent.find(':') == std::string::npos) return dump_of_agent("edgectl routes dump", arguments, agent);
    paths = {"http://" + agent};
  }
  if (agent.empty() && arguments.has("PROGRAM") == !paths.empty()) {
    cli::print_error("edgectl routes dump", "give one program, or configuration with -f");
    return cli::kExitUsage;
  }
  if (paths.empty()) paths = arguments.all("PROGRAM");
  auto program = program_of(paths, program::Target::kTablesOnly);
  if (!program) {
    cli::print_error("edgectl routes dump", program.error().text);
    return agent.empty() ? cli::kExitFindings : cli::kExitUnreachable;
  }
  const bool json = arguments.one("output") == "json";
  const bool written =
      cli::write_text(stdout, json ? program::dump_routes_json(program->view) : program::dump_routes(program->view));
  if (program->faults) {
    cli::print_error("edgectl routes dump", "the configuration has errors; the tree above is without what is at fault");
  }
  return written && !program->faults ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace edge::edgectl
