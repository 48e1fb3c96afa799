#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "program/abi.h"
#include "program/format.h"

namespace edge::edgectl {
namespace {

int version(const cli::Arguments& arguments) {
  std::printf("edgectl %s\nprogram format %u, native interface %u\nAPI group %s\n", EDGE_VERSION,
              program::kFormatVersion, program::kAbiVersion, EDGE_API_GROUP);
  if (arguments.has("client")) return cli::kExitOk;
  const auto cluster = Cluster::open(arguments);
  if (!cluster && cluster.error().code == ErrorCode::kNotFound) {
    // A compiler needs no cluster: that there is none is no failure.
    cli::print_message("edgectl", "no cluster is configured, so there is no orchestrator's version");
    return cli::kExitOk;
  }
  if (!cluster) {
    cli::print_error("edgectl version", cluster.error().text);
    return cli::kExitUnreachable;
  }
  const auto reply = (*cluster)->api().send({.target = "/version"});
  if (!reply.ok()) return tell("edgectl version", reply.failure);
  const std::string text = text_in(parse_json(reply.body), "gitVersion");
  return cli::write_text(stdout, "orchestrator " + (text.empty() ? "unknown" : shown(text)) + "\n")
             ? cli::kExitOk
             : cli::kExitFindings;
}

}  // namespace

cli::Command version_command() {
  return {.name = "version",
          .group = kProgramGroup,
          .summary = "Print the version of this program, of the formats it knows, and of the cluster",
          .flags = {{.name = "client", .help = "Ask no cluster"}},
          .run = version,
          .global = true};
}

}  // namespace edge::edgectl
