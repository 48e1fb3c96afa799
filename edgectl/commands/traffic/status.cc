// edgectl status: shows the health of the installation, part by part.
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/reports/status_report.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

int status(const cli::Arguments& arguments) {
  const nlohmann::ordered_json report = status_report(arguments);
  const std::string text = wants_data(arguments) ? data_text(arguments, indented_json(report)) : status_text(report);
  if (!cli::write_text(stdout, text)) return cli::kExitFindings;
  if (nothing_reached(report)) return cli::kExitUnreachable;
  return report["problems"].empty() ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command status_command() {
  return {.name = "status",
          .group = kTrafficGroup,
          .summary = "Show the health of the installation: operator, controller, agents, web UI, resources",
          .details =
              "Unreachable parts are reported as such, and the rest is shown. Exit code 0 when all is healthy, 1 when "
              "something is not, 3 when nothing could be reached.",
          .flags = joined(controller_flags(), {form_flag({"table", "json", "yaml"})}),
          .examples = {"edgectl status", "edgectl status -o json"},
          .run = status,
          .global = true};
}

}  // namespace edge::edgectl
