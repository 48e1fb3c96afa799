// edgectl logs-access: prints requests from the access log lines that agents keep in memory.
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "edgectl/agents/agent_pages.h"
#include "edgectl/agents/page_lines.h"
#include "edgectl/agents/request_filter.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kLogsAccess = "edgectl logs-access";

bool is_status(const std::string& text) {
  if (text.size() == 3 && text.ends_with("xx")) return text[0] >= '1' && text[0] <= '5';
  int status = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), status);
  return fault == std::errc() && end == text.data() + text.size() && status >= 100 && status <= 599;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// `time agent client "GET shop.example/cart" 200 1.234ms route backend reason`
std::string request_line(const PageLine& line) {
  const nlohmann::json object = parse_json(line.text);
  const auto get = [&](const char* name) { return shown(member_text(object, name)); };
  const std::string query = get("query");
  std::string out = shown(line.time) + " " + shown(line.source) + " " + or_dash(get("client")) + " \"" +
                    or_dash(get("method")) + " " + get("host") + get("path") + (query.empty() ? "" : "?" + query) +
                    "\" " + or_dash(get("status")) + " " + or_dash(get("total_ms")) + "ms " + or_dash(get("route")) +
                    " " + or_dash(get("endpoint"));
  const std::string reason = get("reason");
  return reason.empty() ? out : out + " " + reason;
}

/// The line as it is, and which agent it is from.
std::string whole_line(const PageLine& line) {
  nlohmann::ordered_json object = parse_ordered_json(line.text);
  object["agent"] = line.source;
  return json_line(object);
}

/// The same as a document of a YAML stream.
std::string whole_document(const PageLine& line) {
  nlohmann::ordered_json object = parse_ordered_json(line.text);
  object["agent"] = line.source;
  std::string text = "---\n" + schemas::yaml_text(object);
  // The line's end is written by who prints it.
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

int logs_access(const cli::Arguments& arguments) {
  const std::string since = arguments.one("since");
  if (!since.empty() && !parse_duration(since))
    return usage(kLogsAccess, "--since takes a duration such as 5m, not `" + since + "`");
  const std::string status = arguments.one("status");
  if (!status.empty() && !is_status(status)) return usage(kLogsAccess, "--status takes 404, or 4xx for all of a class");
  const auto filter = RequestFilter::read({.method = arguments.one("method"),
                                           .path = arguments.one("path"),
                                           .backend = arguments.one("backend"),
                                           .client = arguments.one("client"),
                                           .min_duration = arguments.one("min-duration")});
  if (!filter) return usage(kLogsAccess, filter.error().text);
  int exit = cli::kExitOk;
  const auto pages = AgentPages::open(kLogsAccess, arguments, exit);
  if (pages == nullptr) return exit;
  std::string filters = query_part("gateway", arguments.one("gateway")) + query_part("route", arguments.one("route")) +
                        query_part("status", status);
  if (!filters.empty()) filters[0] = '?';
  const auto fetch = [&](const std::string& agent, const std::string& target) {
    return AgentPages::body_of(pages->ask_one(agent, {.target = target}));
  };
  std::string first = since.empty() ? std::string() : "since=" + since;
  // From the beginning, not the latest page: few of its lines may be wanted.
  if (!filter->all()) first += first.empty() ? "after=0" : "&after=0";
  PageLines lines(fetch, "/debug/access-log" + filters, first);
  if (!filter->all()) lines.only([&](const nlohmann::json& line) { return filter->wants(line); });
  const std::string form = arguments.one("output");
  const auto text = form == "json" ? whole_line : form == "yaml" ? whole_document : request_line;
  return print_lines(kLogsAccess, lines, [&] { return pages->names(); }, text, arguments.has("follow"));
}

}  // namespace

cli::Command logs_access_command() {
  return {
      .name = "logs-access",
      .group = kTrafficGroup,
      .summary = "Print requests from the access logs of agents",
      .details =
          "Only of gateways whose access log is enabled. Agents keep the last few thousand requests in memory for "
          "this, whatever is written to files and in which format.",
      .flags =
          joined(agent_page_flags(),
                 {{.name = "since", .value = "DURATION", .help = "Only lines newer than this, e.g. 5m"},
                  {.name = "gateway", .value = "NAME", .help = "`name` or `namespace/name`"},
                  {.name = "route", .value = "NAME", .help = "`name` or `namespace/name`"},
                  {.name = "status", .value = "STATUS", .help = "Status: 404, or 4xx for a class"},
                  {.name = "backend", .value = "NAME", .help = "`name` or `namespace/name`"},
                  {.name = "method", .value = "METHOD", .help = "Method: GET, POST and so on"},
                  {.name = "path", .value = "PATH", .help = "Path, or, if it ends in /, a prefix"},
                  {.name = "client", .value = "ADDRESS", .help = "Client address, or a network such as 10.0.0.0/8"},
                  {.name = "min-duration",
                   .value = "DURATION",
                   .help = "Only requests that took at least this long, e.g. 250ms"},
                  {.name = "follow", .letter = 'f', .help = "Keep running, and print new lines"},
                  form_flag({"text", "json", "yaml"})}),
      .examples = {"edgectl logs-access --follow --status 5xx", "edgectl logs-access --since 5m --route cart -o json"},
      .run = logs_access,
      .global = true};
}

}  // namespace edge::edgectl
