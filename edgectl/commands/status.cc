// edgectl status: how the installation stands, part by part.
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/terminal.h"
#include "edgectl/seeing_commands.h"
#include "edgectl/status_report.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {

int status(const cli::Arguments& arguments) {
  const nlohmann::ordered_json report = status_report(arguments);
  const std::string form = arguments.one("output");
  std::string text = form == "table" ? status_text(report) : indented_json(report);
  if (form == "yaml") text = schemas::yaml_text(nlohmann::ordered_json::parse(text, nullptr, false));
  if (!cli::write_text(stdout, text)) return cli::kExitFindings;
  if (nothing_reached(report)) return cli::kExitUnreachable;
  return report["problems"].empty() ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace edge::edgectl
