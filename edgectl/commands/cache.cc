#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/hostname.h"
#include "cli/terminal.h"
#include "edgectl/agent_source.h"
#include "edgectl/commands.h"

namespace edge::edgectl {
namespace {

constexpr const char* kOnlyLocal = "an agent is asked about its cache on a loopback address";

std::string agent_of(const cli::Arguments& arguments) { return "http://" + arguments.one("agent"); }

int unreachable(std::string_view command, const Error& error) {
  cli::print_error(command, error.text);
  return cli::kExitUnreachable;
}

}  // namespace

int cache_stats(const cli::Arguments& arguments) {
  const auto answer = ask_agent(agent_of(arguments), "GET", "/debug/cache", kOnlyLocal);
  if (!answer) return unreachable("edgectl cache stats", answer.error());
  const bool json = arguments.one("output") == "json";
  nlohmann::ordered_json object;
  std::string table;
  for (std::string_view rest = *answer; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string name(line.substr(0, space));
    const std::string value(line.substr(space + 1));
    object[name] = std::strtoull(value.c_str(), nullptr, 10);
    table += name + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + value + "\n";
  }
  cli::write_text(stdout, json ? object.dump(2) + "\n" : table);
  return cli::kExitOk;
}

int cache_purge(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl cache purge";
  const int given =
      (arguments.has("all") ? 1 : 0) + (arguments.has("hostname") ? 1 : 0) + (arguments.has("route") ? 1 : 0);
  if (given != 1) {
    cli::print_error(kCommand, "give exactly one of --all, --hostname and --route");
    return cli::kExitUsage;
  }
  std::string target = "/debug/cache/purge?";
  if (arguments.has("all")) {
    target += "all";
  } else if (arguments.has("hostname")) {
    const auto pattern = HostPattern::parse(arguments.one("hostname"));
    if (!pattern || pattern->any()) {
      cli::print_error(kCommand,
                       "--hostname takes a name, or `*.` before one, not `" + arguments.one("hostname") + "`");
      return cli::kExitUsage;
    }
    target += "hostname=" + pattern->text();
  } else {
    const std::string route = arguments.one("route");
    if (route.empty() || route.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-./") != std::string::npos) {
      cli::print_error(kCommand, "--route takes `name` or `namespace/name`, not `" + route + "`");
      return cli::kExitUsage;
    }
    target += "route=" + route;
  }
  const auto answer = ask_agent(agent_of(arguments), "POST", target, kOnlyLocal);
  if (!answer) return unreachable(kCommand, answer.error());
  cli::write_text(stdout, *answer);
  return cli::kExitOk;
}

}  // namespace edge::edgectl
