#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/route_test/generate.h"
#include "compiler/route_test/run.h"
#include "compiler/yaml/read.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/reports/test_report.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

namespace route_test = compiler::route_test;
constexpr std::string_view kTest = "edgectl test";

constexpr std::size_t kMostGenerated = 100'000;

/// Prints tests that hold what the program does today.
int generate(const ReadProgram& input) {
  const route_test::Generated generated = route_test::generate_cases(input.view, kMostGenerated);
  const bool written = cli::write_text(stdout, route_test::write_cases(generated.cases, "boundaries"));
  if (generated.unreached > 0) {
    cli::print_message(kTest, "no request was found for " + std::to_string(generated.unreached) + " rules");
  }
  if (generated.cut_off) {
    cli::print_message(kTest, "only the first " + std::to_string(kMostGenerated) + " tests were written");
  }
  if (input.faults) failed(kTest, "the configuration has errors; what is at fault takes no part in the tests");
  return written && !input.faults ? cli::kExitOk : cli::kExitFindings;
}

/// The percentage of --fail-under; 0 without it.
std::optional<unsigned> least_coverage(const cli::Arguments& arguments) {
  const std::string text = arguments.one("fail-under");
  unsigned percent = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (fault != std::errc() || end != text.data() + text.size() || percent > 100) return std::nullopt;
  return percent;
}

std::string report_text(const TestReport& report, const cli::Arguments& arguments) {
  const std::string format = arguments.one("output");
  if (wants_data(arguments)) return data_text(arguments, test_report_json(report));
  if (format == "junit") return test_report_junit(report);
  return test_report_text(report, arguments.has("coverage"));
}

/// Whether there is something to test in what the paths name, beside the tests.
bool only_tests(const std::vector<std::string>& paths) {
  if (std::ranges::any_of(paths, is_program)) return false;
  const auto read = read_paths(paths);
  return read && std::ranges::all_of(resources_in((*read)->sources),
                                     [](const std::string& resource) { return resource.starts_with("RouteTest "); });
}

/// What is tested, and the texts that the tests are in. Tests alone are for the connected edge.
std::optional<ReadProgram> tested_program(const cli::Arguments& arguments, int& exit) {
  const Compiling how = compiling_for(program::Target::kTablesOnly, arguments);
  const std::vector<std::string> paths = paths_of(arguments);
  // Standard input is read once.
  const bool stdin_given = std::ranges::find(paths, "-") != paths.end();
  if (paths.empty() || (!stdin_given && only_tests(paths))) {
    auto program = program_of_paths_or_edge(kTest, arguments, {}, how, exit);
    if (!program) return std::nullopt;
    program->sources = SourceMap();
    const Status read = compiler::yaml::read_sources(paths, program->sources);
    if (read) return program;
    exit = failed(kTest, read.error().text);
    return std::nullopt;
  }
  auto program = program_with_tests(paths, how);
  if (program) return std::move(*program);
  const bool silent = program.error().code == ErrorCode::kUnavailable;
  exit = failed(kTest, program.error().text, silent ? cli::kExitUnreachable : cli::kExitFindings);
  return std::nullopt;
}

int test(const cli::Arguments& arguments) {
  const auto least = least_coverage(arguments);
  if (!least) return usage(kTest, "--fail-under takes a percentage, not `" + arguments.one("fail-under") + "`");
  int exit = cli::kExitOk;
  const auto input = tested_program(arguments, exit);
  if (!input) return exit;
  if (arguments.has("generate")) return generate(*input);

  Diagnostics diagnostics;
  const std::vector<route_test::Case> cases = route_test::read_cases(input->sources, diagnostics);
  diagnostics.finish(input->sources);
  cli::write_text(stderr, errors_text(diagnostics, input->sources, cli::colour_for(stderr)));
  if (cases.empty() && diagnostics.ok()) return failed(kTest, "there is no `kind: RouteTest` in what is named");

  const program::RegexMatcher regex = compiler::expr::regex_matcher();
  std::vector<route_test::CaseResult> results;
  results.reserve(cases.size());
  for (const route_test::Case& one : cases) results.push_back(route_test::run_case(input->view, one, regex));
  const route_test::Coverage coverage = route_test::coverage(input->view, results);
  const TestReport report{input->sources, input->view, cases, results, coverage};
  const bool written = cli::write_text(stdout, report_text(report, arguments));

  if (input->faults) failed(kTest, "the configuration has errors; what is at fault takes no part above");
  const bool enough = coverage.percent() >= *least;
  if (!enough) failed(kTest, "fewer rules are covered than --fail-under asks for");
  const bool fine = written && enough && !input->faults && diagnostics.ok() && report.failed() == 0;
  return fine ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command test_command() {
  return {
      .name = "test",
      .group = kFilesGroup,
      .summary = "Run route tests: requests with their expected outcomes",
      .details =
          "Tests are documents of `kind: RouteTest` in the given files. A failing test is shown with the differences "
          "and the path of the request through the match tree.",
      .flags = {file_flag("Configuration or one .edgeprog, and tests", /*required=*/false),
                {.name = "generate",
                 .help = "Run nothing; print tests on both sides of every boundary between rules, which expect today's "
                         "outcome of each request"},
                controller_class_flag(),
                {.name = "coverage", .help = "List the rules that no test covers"},
                {.name = "fail-under", .value = "PERCENT", .help = "Fail if fewer rules are covered", .fallback = "0"},
                form_flag({"text", "json", "yaml", "junit"})},
      .positional = paths_argument("What -f takes; tests alone are run against the connected edge"),
      .examples = {"edgectl test config/ tests.yaml --coverage", "edgectl test tests.yaml",
                   "edgectl test config/ --generate > boundaries.yaml"},
      .run = test,
      .global = true};
}

}  // namespace edge::edgectl
