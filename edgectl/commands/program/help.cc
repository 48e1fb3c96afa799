// edgectl help: prints the same texts as `--help`.
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

int help(const cli::Arguments& arguments) {
  const auto text = cli::help_of(table(), arguments.all("COMMAND"));
  return text ? print(*text) : usage("edgectl help", text.error().text);
}

}  // namespace

cli::Command help_command() {
  return {.name = "help",
          .group = kProgramGroup,
          .summary = "Print the help text of the program, or of a command",
          .positional = command_argument("Words of a command, e.g. `routes dump`; the program's text without"),
          .examples = {"edgectl help explain", "edgectl help metrics"},
          .run = help};
}

}  // namespace edge::edgectl
