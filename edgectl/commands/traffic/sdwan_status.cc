// edgectl sdwan status, links, topology: the SD-WAN as its resources' statuses have it.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/reports/wan_report.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// Every object of a kind; nullopt: `exit` is set and stderr says why.
std::optional<std::vector<Json>> objects_of(std::string_view command, Cluster& cluster, std::string_view kind,
                                            const cli::Arguments& arguments, int& exit) {
  kube::ListOptions options;
  if (!arguments.has("all-namespaces")) options.name_space = cluster.name_space();
  const auto reply = cluster.api().list_all(resource_of(*schemas::find_kind(kind)), options);
  if (!reply.ok()) {
    exit = tell(command, reply.failure);
    return std::nullopt;
  }
  std::vector<Json> objects;
  for (const kube::Object& item : reply.list.items) objects.push_back(plain_object(item.text));
  return objects;
}

/// Of every Site and WANLink; nullopt: `exit` is set and stderr says why.
std::optional<WanPicture> picture_of(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                                     int& exit) {
  const auto sites = objects_of(command, cluster, "Site", arguments, exit);
  const auto links = sites ? objects_of(command, cluster, "WANLink", arguments, exit) : std::nullopt;
  if (!links) return std::nullopt;
  return wan_picture(*sites, *links);
}

int print_no_site() {
  cli::print_message("edgectl", "there is no Site: `edgectl generate site` writes an example");
  return cli::kExitOk;
}

int wan_status(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl sdwan status";
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto picture = picture_of(kCommand, *cluster, arguments, exit);
  const auto policies = picture ? objects_of(kCommand, *cluster, "WANPolicy", arguments, exit) : std::nullopt;
  if (!policies) return exit;
  if (wants_data(arguments)) {
    return print(data_text(arguments, indented_json(wan_status_json(*picture, *policies))));
  }
  if (picture->sites.empty()) return print_no_site();
  return print(wan_status_text(*picture, *policies, seconds_now()));
}

int wan_links(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl sdwan links";
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto links = objects_of(kCommand, *cluster, "WANLink", arguments, exit);
  if (!links) return exit;
  if (wants_data(arguments)) return print(data_text(arguments, indented_json(Json(*links))));
  const Columns columns = Columns::of_kind(*schemas::find_kind("WANLink"), /*wide=*/false);
  TextTable table(columns.heads());
  for (const Json& link : *links) table.add(columns.cells(link, seconds_now()));
  if (!table.empty()) return print(table.take(!arguments.has("no-headers")));
  cli::print_message("edgectl", "there is no WANLink");
  return cli::kExitOk;
}

int wan_topology(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl sdwan topology";
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto picture = picture_of(kCommand, *cluster, arguments, exit);
  if (!picture) return exit;
  if (wants_data(arguments)) return print(data_text(arguments, indented_json(wan_topology_json(*picture))));
  if (arguments.one("output") == "dot") return print(wan_topology_dot(*picture));
  if (picture->sites.empty()) return print_no_site();
  return print(wan_topology_text(*picture));
}

}  // namespace

std::vector<cli::Command> sdwan_commands() {
  return {
      {.name = "sdwan status",
       .group = kTrafficGroup,
       .summary = "Show the sites of the SD-WAN, which links policies take, since when and why",
       .details = "What is amiss is listed last, with the reason.",
       .flags = {all_namespaces_flag(), form_flag({"table", "json", "yaml"})},
       .examples = {"edgectl sdwan status -A"},
       .run = wan_status,
       .global = true},
      {.name = "sdwan links",
       .group = kTrafficGroup,
       .summary = "List WAN links with what is measured of them",
       .details = "Latency is the median round trip of the window of the link's probe, loss its share of lost probes.",
       .flags = {all_namespaces_flag(), no_headers_flag(), form_flag({"table", "json", "yaml"})},
       .examples = {"edgectl sdwan links -A"},
       .run = wan_links,
       .global = true},
      {.name = "sdwan topology",
       .group = kTrafficGroup,
       .summary = "Draw the sites of the SD-WAN and the tunnels between them",
       .flags = {all_namespaces_flag(), form_flag({"text", "json", "yaml", "dot"})},
       .examples = {"edgectl sdwan topology -A", "edgectl sdwan topology -A -o dot | dot -Tsvg"},
       .run = wan_topology,
       .global = true}};
}

}  // namespace edge::edgectl
