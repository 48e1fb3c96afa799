// edgectl uninstall: removes what `edgectl install` applied and what the operator made of it.
#include "edgectl/commands.h"
#include "edgectl/install/removal.h"
#include "edgectl/install_flags.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kUninstall = "edgectl uninstall";

int uninstall(const cli::Arguments& arguments) {
  const auto patience = patience_of(kUninstall, arguments);
  if (!patience) return cli::kExitUsage;
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kUninstall, arguments, exit);
  if (cluster == nullptr) return exit;
  return Removal(kUninstall, *cluster,
                 {.name_space = arguments.one("namespace"),
                  .dry_run = arguments.has("dry-run"),
                  .definitions = arguments.has("crds"),
                  .force = arguments.has("force"),
                  .remove_namespace = arguments.has("delete-namespace"),
                  .patience = *patience})
      .run();
}

}  // namespace

cli::Command uninstall_command() {
  return {
      .name = "uninstall",
      .group = kClusterGroup,
      .summary = "Remove the EdgeClusters of a namespace and the operator",
      .details =
          "Deletes the EdgeClusters, waits until agents and controllers have ended, then deletes the operator and its "
          "rights. Gateways, routes and all other objects stay, and so do the definitions of their kinds.",
      .flags =
          joined(installation_flags(),
                 {{.name = "crds", .help = "Delete the definitions too; refused while there are objects"},
                  {.name = "delete-namespace", .help = "Delete the namespace too, with all that is in it"},
                  {.name = "force", .help = "Delete definitions with all of their objects, and what Helm installed"}}),
      .examples = {"edgectl uninstall --dry-run", "edgectl uninstall"},
      .run = uninstall,
      .global = true};
}

}  // namespace edge::edgectl
