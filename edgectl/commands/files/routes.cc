#include <string>
#include <vector>

#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/input.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/complete.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"
#include "program/dump/dump.h"

namespace edge::edgectl {
namespace {

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
  auto program = program_of(paths, compiling_for(program::Target::kTablesOnly, arguments));
  if (!program) {
    cli::print_error("edgectl routes dump", program.error().text);
    return agent.empty() ? cli::kExitFindings : cli::kExitUnreachable;
  }
  const bool written =
      cli::write_text(stdout, wants_data(arguments) ? data_text(arguments, program::dump_routes_json(program->view))
                                                    : program::dump_routes(program->view));
  if (program->faults) {
    cli::print_error("edgectl routes dump", "the configuration has errors; the tree above is without what is at fault");
  }
  return written && !program->faults ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command routes_dump_command() {
  return {.name = "routes dump",
          .group = kFilesGroup,
          .summary = "Print the compiled match tree",
          .details = "Listeners, hosts and paths in the order of matching, each rule with its conditions.",
          .flags = {file_flag(kFilesOrProgram, /*required=*/false),
                    {.name = "agent",
                     .value = "AGENT",
                     .help = "The program that this agent runs: its name, as the controller knows it, or its health "
                             "address, e.g. 127.0.0.1:9091",
                     .complete = complete_agent},
                    controller_class_flag(),
                    controller_flags().front(),
                    controller_flags().back(),
                    form_flag({"text", "json", "yaml"})},
          .positional =
              cli::Positional{.name = "PROGRAM", .help = "A program (*.edgeprog), instead of -f", .required = false},
          .examples = {"edgectl routes dump site.edgeprog", "edgectl routes dump -f config/ -o json",
                       "edgectl routes dump --agent node-1"},
          .run = routes_dump,
          .global = true};
}

}  // namespace edge::edgectl
