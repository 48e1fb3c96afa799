#include "cli/completion.h"

#include <cstdio>

#include "cli/terminal.h"
#include "edgectl/commands.h"

namespace edge::edgectl {

int completion(const cli::Arguments& arguments) {
  const auto script = cli::completion_script(kName, arguments.one("SHELL"));
  if (!script) return cli::kExitUsage;  // the table lets no other shell through
  return cli::write_text(stdout, *script) ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace edge::edgectl
