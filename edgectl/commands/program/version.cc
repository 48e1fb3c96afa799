#include "program/version.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "program/evaluate/abi.h"
#include "program/format/format.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kVersion = "edgectl version";

/// `orchestrator` empty: none was asked.
int print_version(const cli::Arguments& arguments, const std::string& orchestrator) {
  if (!wants_data(arguments)) {
    return print(program::version_text(kName) +
                 (orchestrator.empty() ? "" : "orchestrator " + shown(orchestrator) + "\n"));
  }
  nlohmann::ordered_json json = {{"version", EDGE_VERSION},
                                 {"commit", program::commit()},
                                 {"programFormat", program::kFormatVersion},
                                 {"nativeInterface", program::kAbiVersion},
                                 {"apiGroup", EDGE_API_GROUP}};
  if (!orchestrator.empty()) json["orchestrator"] = orchestrator;
  return print(data_text(arguments, indented_json(json)));
}

int version(const cli::Arguments& arguments) {
  if (arguments.has("client")) return print_version(arguments, {});
  const auto cluster = Cluster::open(arguments);
  if (!cluster) {
    const int code = print_version(arguments, {});
    if (cluster.error().code != ErrorCode::kNotFound) {
      return failed(kVersion, cluster.error().text, cli::kExitUnreachable);
    }
    // A compiler needs no cluster: that there is none is no failure.
    cli::print_message("edgectl", "no cluster is configured, so there is no orchestrator's version");
    return code;
  }
  const auto reply = (*cluster)->api().send({.target = "/version"});
  if (!reply.ok()) {
    print_version(arguments, {});
    return tell(kVersion, reply.failure);
  }
  const std::string text = text_in(parse_json(reply.body), "gitVersion");
  return print_version(arguments, text.empty() ? "unknown" : text);
}

}  // namespace

cli::Command version_command() {
  return {.name = "version",
          .group = kProgramGroup,
          .summary = "Print the versions of this program, of the formats it supports, and of the cluster",
          .details = "`--version` prints the same without the cluster, as in every program.",
          .flags = {{.name = "client", .help = "Do not contact the cluster"}, form_flag({"text", "json", "yaml"})},
          .run = version,
          .global = true};
}

}  // namespace edge::edgectl
