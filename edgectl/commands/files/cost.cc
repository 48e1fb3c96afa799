#include "compiler/analyze/cost/cost.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/input.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace analyze = compiler::analyze;
constexpr std::string_view kCost = "edgectl cost";
/// Hosts and patterns that the text form lists; -o json has all.
constexpr std::size_t kShown = 10;

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  char text[32];
  const bool mega = bytes >= 10'000'000;
  std::snprintf(text, sizeof text, "%.1f %s", static_cast<double>(bytes) / (mega ? 1048576.0 : 1024.0),
                mega ? "MiB" : "KiB");
  return text;
}

std::string bound_text(const analyze::LookupBound& bound) {
  return counted(bound.hosts, "host") + ", " + counted(bound.paths, "path probe") + ", " +
         counted(bound.conditions, "condition") + ", " + counted(bound.pattern_sets, "pattern set");
}

/// Columns as wide as their widest cell, numbers to the right.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      const bool last = i + 1 == row.size();
      out += (i == 0 ? "" : "  ") + (i == 0 || last ? row[i] + (last ? "" : space) : space + row[i]);
    }
    out += "\n";
  }
  return out;
}

std::string cost_text(const analyze::Cost& cost) {
  std::string out = "program  " + size_text(cost.program_bytes) + ": tables " + size_text(cost.table_bytes) +
                    ", native code " + size_text(cost.native_bytes) + ", patterns " + size_text(cost.regex_bytes) +
                    "\nmemory   " + size_text(cost.memory_bytes()) + " in an agent, patterns unpacked\n";
  if (!cost.hosts.empty()) {
    const analyze::HostCost& worst = cost.hosts.front();
    out += "longest  " + worst.pattern + worst.longest_path + ": at most " + bound_text(worst.bound) + "\n";
  }
  std::vector<std::vector<std::string>> rows = {
      {"HOST", "RULES", "PATHS", "TABLES", "NATIVE", "PATTERNS", "CONDITIONS", "LONGEST PATH"}};
  for (std::size_t i = 0; i < std::min(cost.hosts.size(), kShown); ++i) {
    const analyze::HostCost& host = cost.hosts[i];
    rows.push_back({host.pattern, std::to_string(host.rules), std::to_string(host.paths), size_text(host.table_bytes),
                    size_text(host.native_bytes), size_text(host.regex_bytes), std::to_string(host.bound.conditions),
                    host.longest_path});
  }
  out += "\n" + table_text(rows);
  if (cost.hosts.size() > kShown) out += "and " + counted(cost.hosts.size() - kShown, "more host") + "\n";
  if (cost.regexes.empty()) return out;
  rows = {{"PATTERN", "POSITIONS", "DATABASE", "SHARED BY", "SUBJECT AND HOST"}};
  for (std::size_t i = 0; i < std::min(cost.regexes.size(), kShown); ++i) {
    const analyze::RegexCost& regex = cost.regexes[i];
    rows.push_back({regex.pattern, std::to_string(regex.positions), size_text(regex.database_bytes),
                    counted(regex.database_patterns, "pattern"), regex.subject + " of " + regex.host});
  }
  out += "\n" + table_text(rows);
  if (cost.regexes.size() > kShown) out += "and " + counted(cost.regexes.size() - kShown, "more pattern") + "\n";
  return out;
}

std::string cost_json(const analyze::Cost& cost) {
  OrderedJson hosts = OrderedJson::array();
  for (const analyze::HostCost& host : cost.hosts) {
    hosts.push_back({{"host", host.pattern},
                     {"listener", host.listener},
                     {"rules", host.rules},
                     {"paths", host.paths},
                     {"tableBytes", host.table_bytes},
                     {"nativeBytes", host.native_bytes},
                     {"nativeSharedBy", host.native_hosts},
                     {"patternBytes", host.regex_bytes},
                     {"patterns", host.patterns},
                     {"longestPath", host.longest_path},
                     {"bound",
                      {{"hosts", host.bound.hosts},
                       {"pathProbes", host.bound.paths},
                       {"conditions", host.bound.conditions},
                       {"patternSets", host.bound.pattern_sets}}}});
  }
  OrderedJson patterns = OrderedJson::array();
  for (const analyze::RegexCost& regex : cost.regexes) {
    patterns.push_back({{"pattern", regex.pattern},
                        {"host", regex.host},
                        {"subject", regex.subject},
                        {"positions", regex.positions},
                        {"databaseBytes", regex.database_bytes},
                        {"databasePatterns", regex.database_patterns}});
  }
  const OrderedJson document = {{"programBytes", cost.program_bytes},
                                {"tableBytes", cost.table_bytes},
                                {"nativeBytes", cost.native_bytes},
                                {"patternBytes", cost.regex_bytes},
                                {"memoryBytes", cost.memory_bytes()},
                                {"hosts", hosts},
                                {"patterns", patterns}};
  return indented_json(document);
}

int cost(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto input = program_of_paths_or_edge(kCost, arguments, paths_of(arguments),
                                              compiling_for(program::Target::kX8664V2, arguments), exit);
  if (!input) return exit;
  const analyze::Cost found = analyze::cost_of(input->view);
  const bool written =
      cli::write_text(stdout, wants_data(arguments) ? data_text(arguments, cost_json(found)) : cost_text(found));
  if (input->faults) cli::print_error(kCost, "the configuration has errors; what is at fault takes no part above");
  return written && !input->faults ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command cost_command() {
  return {.name = "cost",
          .group = kFilesGroup,
          .summary = "Show the size of a program in bytes, and the upper bounds of its work per request",
          .details =
              "The bounds are computed from the tables: the conditions evaluated when every rule on a path fails but "
              "the last, with the path that costs most.",
          .flags = {file_flag(kFilesOrProgram, /*required=*/false), controller_class_flag(),
                    form_flag({"text", "json", "yaml"})},
          .positional = paths_argument(kPathsOrEdge),
          .examples = {"edgectl cost config/", "edgectl cost site.edgeprog -o json", "edgectl cost"},
          .run = cost,
          .global = true};
}

}  // namespace edge::edgectl
