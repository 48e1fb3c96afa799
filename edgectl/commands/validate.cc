#include "cli/terminal.h"
#include "compiler/analyze/hidden_hosts.h"
#include "compiler/analyze/partly_shadowed.h"
#include "compiler/link/conditions_text.h"
#include "edgectl/commands.h"
#include "edgectl/diagnostics_output.h"
#include "edgectl/input.h"

namespace edge::edgectl {
namespace {

/// What only the whole program tells: rules that other hosts hide, and, where that is asked for, what rules take from
/// each other, which is no fault.
void add_shadows(Compiled& result, bool partly) {
  if (!result.artifact) return;
  const auto program = program::read(result.artifact->bytes);
  if (!program) return;
  compiler::analyze::report_hidden_by_hosts(result.config, *program, result.diagnostics);
  if (partly) compiler::analyze::note_partly_shadowed(result.config, *program, result.diagnostics);
  result.diagnostics.finish(result.sources);
}

}  // namespace

int validate(const cli::Arguments& arguments) {
  auto compiled = compile_paths(arguments.all("file"), {});
  if (!compiled) {
    cli::print_error("edgectl validate", compiled.error().text);
    return cli::kExitFindings;
  }
  Compiled& result = **compiled;
  add_shadows(result, arguments.has("shadows"));
  const std::string format = arguments.one("output");
  std::string text;
  if (format == "json") {
    text = diagnostics_json(result.diagnostics, result.sources);
  } else if (format == "sarif") {
    text = diagnostics_sarif(result.diagnostics, result.sources);
  } else {
    text = diagnostics_text(result.diagnostics, result.sources, cli::colour_for(stdout));
    if (arguments.has("conditions")) text += "\n" + compiler::link::conditions_text(result.config);
  }
  if (!cli::write_text(stdout, text)) return cli::kExitFindings;
  if (result.sources.size() == 0) {
    cli::print_error("edgectl validate", "there is no *.yaml, *.yml or *.json in what -f names");
    return cli::kExitFindings;
  }
  const bool warnings_count = arguments.one("fail-on") == "warning";
  // No program without an error cannot be; were it so, it would still be no success.
  const bool failed =
      !result.diagnostics.ok() || !result.artifact || (warnings_count && result.diagnostics.warnings() > 0);
  return failed ? cli::kExitFindings : cli::kExitOk;
}

}  // namespace edge::edgectl
