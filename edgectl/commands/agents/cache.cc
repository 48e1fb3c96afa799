// edgectl cache: shows the contents of the agents' caches, and purges stored responses.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/hostname.h"
#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The counters of one agent, in its order.
struct CacheCounts {
  std::string agent;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
};

/// `name number` a line.
CacheCounts read_counts(const std::string& agent, std::string_view text) {
  CacheCounts read{agent, {}};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string value(line.substr(space + 1));
    read.counts.emplace_back(line.substr(0, space), std::strtoull(value.c_str(), nullptr, 10));
  }
  return read;
}

OrderedJson json_of(const CacheCounts& counts) {
  OrderedJson object;
  for (const auto& [name, value] : counts.counts) object[name] = value;
  return object;
}

std::string text_of(const CacheCounts& counts) {
  std::string text;
  for (const auto& [name, value] : counts.counts) {
    text += shown(name) + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + std::to_string(value) + "\n";
  }
  return text;
}

std::string table_of(const std::vector<CacheCounts>& all) {
  std::vector<std::string> heads = {"AGENT"};
  for (const auto& [name, value] : all.front().counts) {
    heads.push_back(name);
    std::ranges::transform(heads.back(), heads.back().begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  }
  TextTable table(std::move(heads));
  for (const CacheCounts& agent : all) {
    std::vector<std::string> cells = {agent.agent};
    for (const auto& [name, value] : agent.counts) cells.push_back(std::to_string(value));
    table.add(std::move(cells));
  }
  return table.take(/*with_heads=*/true);
}

/// Asks, and gives the answers that there are; the others are told.
template <typename Take>
int ask_agents(std::string_view command, const cli::Arguments& arguments, const controller::AgentQuestion& question,
               const Take& take) {
  int exit = cli::kExitOk;
  const auto pages = AgentPages::open(command, arguments, exit);
  if (pages == nullptr) return exit;
  const auto said = pages->ask(question);
  if (!said) {
    cli::print_error(command, said.error().text);
    return cli::kExitUnreachable;
  }
  if (said->empty()) cli::print_message("edgectl", "no agent is connected");
  for (const AgentPages::Said& one : *said) {
    const auto body = AgentPages::body_of(one);
    if (body) {
      take(one.agent, *body);
      continue;
    }
    cli::print_error(command, body.error().text);
    exit = cli::kExitUnreachable;
  }
  return exit;
}

/// What is to be purged, as the page takes it. nullopt: stderr says what is wrong.
std::optional<std::string> purge_target(std::string_view command, const cli::Arguments& arguments) {
  const int given =
      (arguments.has("all") ? 1 : 0) + (arguments.has("hostname") ? 1 : 0) + (arguments.has("route") ? 1 : 0);
  if (given != 1) {
    cli::print_error(command, "give exactly one of --all, --hostname and --route");
    return std::nullopt;
  }
  if (arguments.has("all")) return "/debug/cache/purge?all";
  if (arguments.has("hostname")) {
    const auto pattern = HostPattern::parse(arguments.one("hostname"));
    if (pattern && !pattern->any()) return "/debug/cache/purge?hostname=" + pattern->text();
    cli::print_error(command, "--hostname takes a name, or `*.` before one, not `" + arguments.one("hostname") + "`");
    return std::nullopt;
  }
  const std::string route = arguments.one("route");
  if (!route.empty() && route.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-./") == std::string::npos) {
    return "/debug/cache/purge?route=" + route;
  }
  cli::print_error(command, "--route takes `name` or `namespace/name`, not `" + route + "`");
  return std::nullopt;
}

int cache_stats(const cli::Arguments& arguments) {
  std::vector<CacheCounts> all;
  const int exit =
      ask_agents("edgectl cache stats", arguments, {.target = "/debug/cache"},
                 [&](const std::string& agent, const std::string& body) { all.push_back(read_counts(agent, body)); });
  if (all.empty()) return exit;
  const bool one = arguments.has("agent");
  if (wants_data(arguments)) {
    OrderedJson json = one ? json_of(all.front()) : OrderedJson::object();
    if (!one) {
      for (const CacheCounts& counts : all) json[counts.agent] = json_of(counts);
    }
    cli::write_text(stdout, data_text(arguments, indented_json(json)));
  } else {
    cli::write_text(stdout, one ? text_of(all.front()) : table_of(all));
  }
  return exit;
}

int cache_purge(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl cache purge";
  const auto target = purge_target(kCommand, arguments);
  if (!target) return cli::kExitUsage;
  const bool one = arguments.has("agent");
  return ask_agents(kCommand, arguments, {.method = "POST", .target = *target},
                    [&](const std::string& agent, const std::string& body) {
                      cli::write_text(stdout, (one ? "" : shown(agent) + ": ") + body);
                    });
}

}  // namespace

cli::Command cache_stats_command() {
  return {.name = "cache stats",
          .group = kAgentsGroup,
          .summary = "Show the contents and hits of the agents' caches",
          .flags = joined(agent_page_flags(), {form_flag({"text", "json", "yaml"})}),
          .examples = {"edgectl cache stats", "edgectl cache stats --agent 127.0.0.1:9091"},
          .run = cache_stats,
          .global = true};
}

cli::Command cache_purge_command() {
  return {.name = "cache purge",
          .group = kAgentsGroup,
          .summary = "Remove stored responses from the caches of agents",
          .details =
              "Give exactly one of --all, --hostname and --route. Matching responses that are being received are not "
              "stored either. Affects all agents unless --agent names one.",
          .flags = joined(
              agent_page_flags(),
              {{.name = "all", .help = "All responses"},
               {.name = "hostname", .value = "PATTERN", .help = "Responses for this host name, or for `*.example.com`"},
               {.name = "route", .value = "NAME", .help = "Responses of this route: `name` or `namespace/name`"}}),
          .examples = {"edgectl cache purge --hostname shop.example", "edgectl cache purge --route shop/cart"},
          .run = cache_purge,
          .global = true};
}

}  // namespace edge::edgectl
