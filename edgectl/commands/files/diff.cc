#include "compiler/analyze/diff/diff.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "cli/terminal.h"
#include "edgectl/agents/access_log.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/reports/diff_report.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/spoke.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

namespace analyze = compiler::analyze;
constexpr std::string_view kDiff = "edgectl diff";
/// Longer lines are not read; requests are remembered up to a number.
constexpr std::size_t kMaxLine = 64 * 1024;
constexpr std::size_t kMaxRemembered = 1'000'000;

int diff_failed(const Error& error) {
  cli::print_error(kDiff, error.text);
  return error.code == ErrorCode::kUnavailable ? cli::kExitUnreachable : cli::kExitFindings;
}

/// Counts a log's requests by the classes of a diff. A request may reveal a class that the diff did not distinguish; it
/// is added.
class Weigher {
 public:
  Weigher(analyze::ProgramDiff& programs, analyze::Diff& diff, LogDefaults defaults)
      : programs_(programs), diff_(diff), defaults_(std::move(defaults)) {
    for (std::size_t i = 0; i < diff.classes.size(); ++i) classes_.emplace(analyze::class_key(diff.classes[i]), i);
    traffic_.seen.assign(diff.classes.size(), 0);
  }

  void read(std::istream& log) {
    std::string line;
    while (std::getline(log, line)) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty()) add(line);
    }
  }

  DiffTraffic take() && { return std::move(traffic_); }

 private:
  static constexpr std::size_t kUnchanged = static_cast<std::size_t>(-1);

  void add(const std::string& line) {
    const auto request = line.size() > kMaxLine ? std::nullopt : read_log_line(line, defaults_);
    if (!request) {
      ++traffic_.unread;
      return;
    }
    ++traffic_.requests;
    const std::string key = analyze::witness_text(*request);
    const auto known = remembered_.find(key);
    const std::size_t number = known != remembered_.end() ? known->second : class_of(*request);
    if (known == remembered_.end() && remembered_.size() < kMaxRemembered) remembered_.emplace(key, number);
    if (number != kUnchanged) ++traffic_.seen[number];
  }

  std::size_t class_of(const analyze::Witness& request) {
    auto changed = programs_.of_request(request);
    if (!changed) return kUnchanged;
    const auto [at, fresh] = classes_.try_emplace(analyze::class_key(*changed), diff_.classes.size());
    if (fresh) {
      diff_.classes.push_back(std::move(*changed));
      traffic_.seen.push_back(0);
    }
    return at->second;
  }

  analyze::ProgramDiff& programs_;
  analyze::Diff& diff_;
  LogDefaults defaults_;
  std::map<std::string, std::size_t> classes_;
  std::unordered_map<std::string, std::size_t> remembered_;
  DiffTraffic traffic_;
};

std::uint16_t first_port(const program::ProgramView& program) {
  const program::SectionView& view = program.listeners().view;
  const auto binds = view.array(view.header<program::ListenersHeader>().binds);
  return binds.empty() ? 80 : binds.front().port;
}

bool is_cluster(const std::vector<std::string>& paths) { return paths == std::vector{std::string(kClusterOperand)}; }

/// What is compared, before and after. An empty side is the connected edge: the cluster, where one is configured.
std::optional<std::pair<std::vector<std::string>, std::vector<std::string>>> sides_of(const cli::Arguments& arguments) {
  const std::vector<std::string>& files = arguments.all("file");
  std::vector<std::string> before = arguments.all("BEFORE");
  std::vector<std::string> after = arguments.all("AFTER");
  if (!files.empty() && !after.empty()) return std::nullopt;
  if (before.empty() && files.empty()) return std::nullopt;
  // One alone is what is to come.
  if (!files.empty()) after = files;
  if (after.empty()) std::swap(before, after);
  if (before.empty() && !spoke_of(arguments).empty()) {
    before = {std::string(kClusterOperand)};
  } else if (before.empty()) {
    const auto cluster = Cluster::open(arguments);
    const bool none = !cluster && cluster.error().code == ErrorCode::kNotFound;
    if (!none) before = {std::string(kClusterOperand)};
  }
  return std::pair(std::move(before), std::move(after));
}

/// One side. Configuration beside a cluster means what it would be with that applied: nobody keeps all of a cluster in
/// one directory.
std::optional<ReadProgram> operand(const cli::Arguments& arguments, const std::vector<std::string>& paths,
                                   bool beside_cluster, int& exit) {
  const Compiling how = compiling_for(program::Target::kTablesOnly, arguments);
  // A spoke's other kinds cannot be read: configuration is compared with its program as it stands.
  const bool spoke = !spoke_of(arguments).empty();
  if (spoke && is_cluster(paths)) return program_of_spoke(kDiff, arguments, exit);
  if (spoke && !paths.empty()) return program_of_paths_or_edge(kDiff, arguments, paths, how, exit);
  if (is_cluster(paths)) return program_of_cluster(kDiff, arguments, {}, how, exit);
  if (beside_cluster && std::ranges::none_of(paths, is_program)) {
    return program_of_cluster(kDiff, arguments, paths, how, exit);
  }
  return program_of_paths_or_edge(kDiff, arguments, paths, how, exit);
}

int diff(const cli::Arguments& arguments) {
  std::ifstream file;
  const std::string log = arguments.one("access-log");
  if (!log.empty() && log != "-") {
    file.open(log, std::ios::binary);
    if (!file) return diff_failed({ErrorCode::kNotFound, log + ": cannot be read"});
  }
  int exit = cli::kExitOk;
  const auto sides = sides_of(arguments);
  if (!sides) return usage(kDiff, "name what is compared: BEFORE and AFTER, or one with the connected edge before it");
  const auto before = operand(arguments, sides->first, is_cluster(sides->second), exit);
  if (!before) return exit;
  const auto after = operand(arguments, sides->second, is_cluster(sides->first), exit);
  if (!after) return exit;

  analyze::ProgramDiff programs(before->view, after->view, {.by_name = arguments.has("names")});
  analyze::Diff found = programs.run();
  if (before->endpoints && after->endpoints) {
    auto changes = analyze::diff_endpoints(*before->endpoints, *after->endpoints);
    std::ranges::move(changes, std::back_inserter(found.settings));
  }
  std::optional<DiffTraffic> traffic;
  if (!log.empty()) {
    Weigher weigher(programs, found, {arguments.one("log-host"), first_port(before->view)});
    weigher.read(log == "-" ? std::cin : file);
    traffic = std::move(weigher).take();
  }
  const DiffTraffic* const weighed = traffic ? &*traffic : nullptr;
  const bool written = cli::write_text(
      stdout, wants_data(arguments) ? data_text(arguments, diff_json(found, weighed)) : diff_text(found, weighed));
  const bool faults = before->faults || after->faults;
  if (faults) cli::print_error(kDiff, "the configuration has errors; what is at fault takes no part above");
  return written && found.equal() && !faults ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command diff_command() {
  return {
      .name = "diff",
      .group = kFilesGroup,
      .summary = "Show which requests a change treats differently",
      .details =
          "Each class of requests is shown by an example and its outcome before and after the change. Exit code 0 "
          "when both configurations are equivalent, whatever their texts. With --cluster, `@cluster` and the connected "
          "edge are "
          "the program of that spoke's agents, and configuration stands for itself.",
      .flags = joined({file_flag("AFTER, of several files and directories", /*required=*/false),
                       controller_class_flag(),
                       {.name = "names", .help = "Report a difference also when another rule has the same outcome"},
                       {.name = "access-log",
                        .value = "FILE",
                        .help = "Weight the classes by the requests in this log (JSON, common or combined lines; - for "
                                "standard input)"},
                       {.name = "log-host", .value = "HOST", .help = "Host for log lines without one"},
                       form_flag({"text", "json", "yaml"})},
                      remote_cluster_flags()),
      .positional =
          cli::Positional{.name = "BEFORE",
                          .help = "Configuration, .edgeprog, http://ADDRESS:PORT of an agent, or @cluster; when it "
                                  "is the only argument it is AFTER, and BEFORE is the connected edge",
                          .required = false},
      .second = cli::Positional{.name = "AFTER", .help = "The same after the change", .required = false},
      .examples = {"edgectl diff running.edgeprog config/", "edgectl diff old/ new/ --access-log access.log",
                   "edgectl diff http://127.0.0.1:9091 config/", "edgectl diff config/",
                   "edgectl diff config/ --cluster berlin"},
      .run = diff,
      .global = true};
}

}  // namespace edge::edgectl
