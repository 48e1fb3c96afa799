// edgectl install, upgrade: the definitions of the kinds, the operator and an EdgeCluster, by server-side apply.

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/install/examine.h"
#include "edgectl/install/installer.h"
#include "edgectl/install/version.h"
#include "edgectl/install_flags.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kInstall = "edgectl install";
constexpr std::string_view kUpgrade = "edgectl upgrade";

InstallOptions options_of(const cli::Arguments& arguments) {
  InstallOptions options;
  options.name_space = arguments.one("namespace");
  options.repository = arguments.one("image-registry");
  options.tag = arguments.one("tag");
  return options;
}

ApplySettings settings_of(const cli::Arguments& arguments, std::chrono::milliseconds patience) {
  return {.dry_run = arguments.has("dry-run"), .force = arguments.has("force-conflicts"), .patience = patience};
}

std::string check_line(const Check& check) {
  const char* state = check.state == Check::State::kPassed    ? "ok       "
                      : check.state == Check::State::kWarning ? "warning  "
                                                              : "failed   ";
  return state + shown(check.text) + "\n";
}

/// Prints the manifests, as JSON or YAML, and asks nobody.
int print_objects(const cli::Arguments& arguments, const std::vector<Planned>& objects) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const Planned& object : objects) items.push_back(parse_ordered_json(object.text));
  const nlohmann::ordered_json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  return print(data_text(arguments, indented_json(list)));
}

/// Prints what was looked at. false: it cannot be installed, which is reported.
bool check_first(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                 const InstallOptions& options, const std::vector<Planned>& objects, InstallVerb verb, int& exit) {
  const Examination examination = examine(cluster, options, objects, verb);
  if (!examination.failure.none()) {
    exit = tell(command, examination.failure);
    return false;
  }
  std::string text;
  for (const Check& check : examination.checks) text += check_line(check);
  cli::write_text(stdout, text);
  if (!examination.failed() || arguments.has("skip-checks")) return true;
  exit = failed(command, "a check failed; nothing was changed (--skip-checks goes on nevertheless)");
  return false;
}

int install(const cli::Arguments& arguments) {
  const auto patience = patience_of(kInstall, arguments);
  if (!patience) return cli::kExitUsage;
  InstallOptions options = options_of(arguments);
  if (!arguments.has("operator-only")) options.cluster = arguments.one("name");
  options.fields = arguments.all("set");
  options.acme_namespaces = arguments.all("acme-namespace");
  options.acme = arguments.has("acme") || !options.acme_namespaces.empty();
  options.federation_namespaces = arguments.all("federation-namespace");
  options.federation = arguments.has("federation") || !options.federation_namespaces.empty();
  if (options.cluster.empty() && options.federation) {
    return usage(kInstall,
                 "--federation is of the EdgeCluster's controller; with --operator-only give it by its manifest");
  }
  if (options.cluster.empty() && options.acme) {
    return usage(kInstall, "--acme is of the EdgeCluster's controller; with --operator-only give it by its manifest");
  }
  if (options.cluster.empty() && !options.fields.empty()) {
    return usage(kInstall, "--set is of the EdgeCluster, which --operator-only leaves out");
  }
  const auto objects = plan(options);
  if (!objects) return usage(kInstall, objects.error().text);
  if (wants_data(arguments)) {
    if (!arguments.has("dry-run")) return usage(kInstall, "-o json and -o yaml go with --dry-run");
    return print_objects(arguments, *objects);
  }
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kInstall, arguments, exit);
  if (cluster == nullptr) return exit;
  if (!check_first(kInstall, *cluster, arguments, options, *objects, InstallVerb::kInstall, exit)) return exit;
  Installer installer(kInstall, *cluster, options, settings_of(arguments, *patience));
  exit = installer.apply(*objects);
  if (exit == cli::kExitOk) exit = installer.remove_other_bindings(*objects);
  if (exit != cli::kExitOk || arguments.has("dry-run")) return exit;
  if (arguments.has("wait")) {
    exit = installer.wait_for_operator();
    return exit != cli::kExitOk || options.cluster.empty() ? exit : installer.wait_for_clusters();
  }
  cli::print_message(
      "edgectl", options.cluster.empty()
                     ? "the operator waits for an EdgeCluster: edgectl schema clusters"
                     : "the operator goes on from here: edgectl get clusters -n " + options.name_space + " --watch");
  return exit;
}

/// Where the images of the installed operator came from.
std::string installed_repository(const Json& deployment) {
  const Json& pod = member_in(member_in(member_in(deployment, "spec"), "template"), "spec");
  const Json& containers = list_in(pod, "containers");
  return containers.empty() ? std::string() : read_image(text_in(containers.front(), "image")).repository;
}

int upgrade(const cli::Arguments& arguments) {
  const auto patience = patience_of(kUpgrade, arguments);
  if (!patience) return cli::kExitUsage;
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kUpgrade, arguments, exit);
  if (cluster == nullptr) return exit;
  InstallOptions options = options_of(arguments);
  const std::string repository = options.repository;
  if (repository.empty()) {
    kube::Failure failure;
    options.repository = installed_repository(installed_operator(*cluster, options.name_space, failure));
    if (!failure.none()) return tell(kUpgrade, failure, "deployment/edge-operator");
    if (options.repository.empty()) {
      return failed(kUpgrade, "no operator is installed in the namespace " + options.name_space +
                                  "; `edgectl install` installs one");
    }
  }
  const auto objects = plan(options);
  if (!objects) return usage(kUpgrade, objects.error().text);
  if (wants_data(arguments)) {
    if (!arguments.has("dry-run")) return usage(kUpgrade, "-o json and -o yaml go with --dry-run");
    return print_objects(arguments, *objects);
  }
  if (!check_first(kUpgrade, *cluster, arguments, options, *objects, InstallVerb::kUpgrade, exit)) return exit;
  Installer installer(kUpgrade, *cluster, options, settings_of(arguments, *patience));
  exit = installer.apply(*objects);
  if (exit != cli::kExitOk) return exit;
  // An operator of the version before would render the new one as it knows it.
  if (!arguments.has("dry-run")) exit = installer.wait_for_operator();
  if (exit == cli::kExitOk) exit = installer.upgrade_clusters(repository);
  if (exit != cli::kExitOk || arguments.has("dry-run") || !arguments.has("wait")) return exit;
  return installer.wait_for_clusters();
}

}  // namespace

cli::Command install_command() {
  return {
      .name = "install",
      .group = kClusterGroup,
      .summary = "Install the operator and an EdgeCluster on a Kubernetes cluster",
      .details =
          "First checks versions, rights, pod security, nodes and ports, and changes nothing if a check fails. Then "
          "applies the definitions of the kinds, the namespace, the operator with its rights, and an EdgeCluster. "
          "The same command again changes nothing.",
      .flags = joined(
          applying_flags(/*needs_registry=*/true),
          {{.name = "name", .value = "NAME", .help = "Name of the EdgeCluster", .fallback = "main"},
           {.name = "set", .value = "FIELD=VALUE", .help = "Field of the EdgeCluster's spec", .repeatable = true},
           {.name = "acme", .help = "Let the controller write Secrets of every namespace, for automatic certificates"},
           {.name = "acme-namespace",
            .value = "NAMESPACE",
            .help = "The same in this namespace and that of the controller alone",
            .repeatable = true},
           {.name = "federation", .help = "Let the controller write the kinds that clusters share, in every namespace"},
           {.name = "federation-namespace",
            .value = "NAMESPACE",
            .help = "The same in this namespace alone",
            .repeatable = true},
           {.name = "operator-only", .help = "Without an EdgeCluster"}}),
      .examples = {"edgectl install --image-registry registry.example.com/edge --dry-run",
                   "edgectl install --image-registry registry.example.com/edge --wait",
                   "edgectl install --image-registry registry.example.com/edge --set agents.metricsPort=9190"},
      .run = install,
      .global = true};
}

cli::Command upgrade_command() {
  return {.name = "upgrade",
          .group = kClusterGroup,
          .summary = "Upgrade the operator and the EdgeClusters of its namespace",
          .details =
              "Checks as `install` does, applies definitions and operator, waits until the operator runs, and sets the "
              "version of the EdgeClusters: the operator replaces controllers and agents. Versions change by one minor "
              "version at a time; with an older --tag it goes back.",
          .flags = applying_flags(/*needs_registry=*/false),
          .examples = {"edgectl upgrade --dry-run", "edgectl upgrade --wait"},
          .run = upgrade,
          .global = true};
}

}  // namespace edge::edgectl
