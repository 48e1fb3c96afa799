#include "cli/completion.h"

#include <cstdio>

#include "cli/terminal.h"
#include "edgectl/commands.h"

namespace edge::edgectl {
namespace {

int completion(const cli::Arguments& arguments) {
  const auto script = cli::completion_script(kName, arguments.one("SHELL"));
  if (!script) return cli::kExitUsage;  // the table lets no other shell through
  return cli::write_text(stdout, *script) ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command completion_command() {
  return {.name = "completion",
          .group = kProgramGroup,
          .summary = "Print the completion script of edgectl for a shell",
          .positional = cli::Positional{.name = "SHELL", .help = "Shell", .choices = {"bash", "zsh", "fish"}},
          .examples = {"source <(edgectl completion bash)", "edgectl completion fish | source"},
          .run = completion};
}

}  // namespace edge::edgectl
