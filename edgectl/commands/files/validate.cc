#include <cstdio>

#include "cli/terminal.h"
#include "compiler/analyze/prove/shadows.h"
#include "compiler/link/dump/conditions_text.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/input.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

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

int validate(const cli::Arguments& arguments) {
  constexpr const char* kValidate = "edgectl validate";
  const std::vector<std::string> paths = paths_of(arguments);
  // Without paths, what the cluster holds is checked.
  const bool all_of_cluster = paths.empty();
  const bool with_cluster = all_of_cluster || arguments.has("cluster");
  auto read = read_paths(paths);
  if (!read) {
    cli::print_error(kValidate, read.error().text);
    return cli::kExitFindings;
  }
  Compiled& result = **read;
  std::uint32_t files = result.sources.size();
  std::set<std::string> resources;
  if (with_cluster) {
    int exit = cli::kExitOk;
    const auto cluster = open_cluster(kValidate, arguments, exit);
    if (cluster == nullptr && all_of_cluster) std::fputs("Without -f what is in a cluster is validated.\n", stderr);
    if (cluster == nullptr) return exit;
    resources = resources_in(result.sources);
    if (const auto failure = add_cluster(*cluster, resources, result.sources); !failure.none()) {
      return tell(kValidate, failure);
    }
  }
  if (all_of_cluster) files = result.sources.size();
  compile_sources(result, {}, arguments.one("controller-class"));
  add_shadows(result, arguments.has("shadows"));
  const Diagnostics found = with_cluster && !all_of_cluster ? findings_of_files(result.diagnostics, files, resources)
                                                            : std::move(result.diagnostics);
  const std::string format = arguments.one("output");
  std::string text;
  if (wants_data(arguments)) {
    text = data_text(arguments, diagnostics_json(found, result.sources));
  } else if (format == "sarif") {
    text = diagnostics_sarif(found, result.sources);
  } else {
    text = diagnostics_text(found, result.sources, files, cli::colour_for(stdout));
    if (arguments.has("conditions")) text += "\n" + compiler::link::conditions_text(result.config);
  }
  if (!cli::write_text(stdout, text)) return cli::kExitFindings;
  if (files == 0 && !all_of_cluster) {
    cli::print_error(kValidate, "there is no *.yaml, *.yml or *.json in what is named");
    return cli::kExitFindings;
  }
  const bool warnings_count = arguments.one("fail-on") == "warning";
  // No program without an error cannot be; were it so, it would still be no success.
  const bool failed = !found.ok() || !result.artifact || (warnings_count && found.warnings() > 0);
  return failed ? cli::kExitFindings : cli::kExitOk;
}

}  // namespace

cli::Command validate_command() {
  return {
      .name = "validate",
      .group = kFilesGroup,
      .summary = "Check configuration and report every error with its position and remedy",
      .details =
          "Runs the complete compiler, including the proof, so that unreachable rules are reported too. All paths form "
          "one configuration: references between them are resolved.",
      .flags = {file_flag(kFilesToRead, /*required=*/false),
                controller_class_flag(),
                form_flag({"text", "json", "yaml", "sarif"}),
                {.name = "fail-on",
                 .value = "SEVERITY",
                 .help = "Lowest severity that makes the exit code 1",
                 .fallback = "error",
                 .choices = {"error", "warning"}},
                {.name = "cluster",
                 .help = "Check together with the objects of the cluster, as if the files had been applied; report "
                         "only findings in the files"},
                {.name = "shadows", .help = "Also note rules that partly shadow another rule"},
                {.name = "conditions",
                 .help =
                     "Print the conditions of gateways, of Gateway API's resources and of all that is not healthy"}},
      .positional = paths_argument("What -f takes; without both, what the cluster holds is checked"),
      .examples = {"edgectl validate examples/quick-start", "edgectl validate",
                   "kubectl get -o yaml proxyroutes | edgectl validate -f -",
                   "edgectl validate -f . -o sarif > edge.sarif", "edgectl validate -f route.yaml --cluster"},
      .run = validate,
      .global = true};
}

}  // namespace edge::edgectl
