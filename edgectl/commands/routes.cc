#include <string>
#include <vector>

#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/input.h"
#include "program/dump.h"

namespace edge::edgectl {

int routes_dump(const cli::Arguments& arguments) {
  std::vector<std::string> paths = arguments.all("file");
  if (arguments.has("PROGRAM") == !paths.empty()) {
    cli::print_error("edgectl routes dump", "give one program, or configuration with -f");
    return cli::kExitUsage;
  }
  if (paths.empty()) paths = arguments.all("PROGRAM");
  auto program = program_of(paths, program::Target::kTablesOnly);
  if (!program) {
    cli::print_error("edgectl routes dump", program.error().text);
    return cli::kExitFindings;
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
