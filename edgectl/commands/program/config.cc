// edgectl config: shows and changes ~/.edgectl/config.
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/client_config.h"
#include "edgectl/resources/complete.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

int config_failed(std::string_view command, const Error& error) {
  return failed(command, error.text, error.code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitFindings);
}

int config_view(const cli::Arguments& arguments) {
  const auto config = ClientConfig::read(client_config_path());
  if (!config) return config_failed("edgectl config view", config.error());
  return print(arguments.one("output") == "json" ? config->json() : config->yaml());
}

int config_get_contexts(const cli::Arguments& arguments) {
  const auto config = ClientConfig::read(client_config_path());
  if (!config) return config_failed("edgectl config get-contexts", config.error());
  if (arguments.one("output") == "name") {
    std::string names;
    for (const ClientContext& context : config->contexts()) names += context.name + "\n";
    return print(names);
  }
  if (wants_data(arguments)) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ClientContext& context : config->contexts()) {
      list.push_back({{"name", context.name},
                      {"cluster", context.cluster},
                      {"namespace", context.name_space},
                      {"current", context.name == config->current()}});
    }
    return print(data_text(arguments, indented_json(list)));
  }
  TextTable table({"CURRENT", "NAME", "CLUSTER", "NAMESPACE"});
  for (const ClientContext& context : config->contexts()) {
    table.add({context.name == config->current() ? "*" : "", context.name, context.cluster, context.name_space});
  }
  return print(table.take(!arguments.has("no-headers")));
}

int config_use_context(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl config use-context";
  const std::string name = arguments.one("NAME");
  const Status status = change_client_config(client_config_path(), [&](ClientConfig& config) -> Status {
    if (config.find_context(name) != nullptr) {
      config.set_current(name);
      return {};
    }
    std::vector<std::string_view> names;
    for (const ClientContext& context : config.contexts()) names.push_back(context.name);
    const std::string_view nearest = nearest_name(name, names);
    return Error{ErrorCode::kNotFound, "there is no context `" + name + "`" +
                                           (nearest.empty() ? "; `edgectl config set-context` makes one"
                                                            : "; did you mean `" + std::string(nearest) + "`?")};
  });
  return status ? print("Switched to context \"" + name + "\".\n") : config_failed(kCommand, status.error());
}

int config_set_context(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl config set-context";
  std::string name = arguments.one("NAME");
  if (name.empty() != arguments.has("current")) {
    cli::print_error(kCommand, "give either the NAME of a context or --current");
    return cli::kExitUsage;
  }
  const bool of_cluster = arguments.has("kubeconfig") || arguments.has("kubeconfig-context") ||
                          arguments.has("controller") || arguments.has("credentials") || arguments.has("traces");
  bool made = false;
  const Status status = change_client_config(client_config_path(), [&](ClientConfig& config) -> Status {
    if (name.empty()) name = config.current();
    if (name.empty()) return Error{ErrorCode::kFailedPrecondition, "there is no current context"};
    const ClientContext* before = config.find_context(name);
    made = before == nullptr;
    std::string cluster = arguments.one("cluster");
    // What is said of a cluster needs one: that of the context, else one of the same name.
    if (cluster.empty() && before != nullptr) cluster = before->cluster;
    if (cluster.empty() && of_cluster) cluster = name;
    if (of_cluster) {
      config.put(ClientCluster{.name = cluster,
                               .kubeconfig = arguments.one("kubeconfig"),
                               .context = arguments.one("kubeconfig-context"),
                               .controller = arguments.one("controller"),
                               .credentials = arguments.one("credentials"),
                               .traces = arguments.one("traces")});
    } else if (!cluster.empty() && config.find_cluster(cluster) == nullptr) {
      return Error{ErrorCode::kInvalidArgument,
                   "there is no cluster `" + cluster + "` yet; --kubeconfig says where it is"};
    }
    config.put(ClientContext{.name = name, .cluster = cluster, .name_space = arguments.one("namespace")});
    return {};
  });
  if (!status) return config_failed(kCommand, status.error());
  return print("Context \"" + name + "\" " + (made ? "created" : "modified") + ".\n");
}

}  // namespace

cli::Command config_view_command() {
  return {.name = "config view",
          .group = kProgramGroup,
          .summary = "Print ~/.edgectl/config",
          .flags = {form_flag({"yaml", "json"})},
          .run = config_view};
}

cli::Command config_get_contexts_command() {
  return {.name = "config get-contexts",
          .group = kProgramGroup,
          .summary = "List the contexts",
          .flags = {no_headers_flag(), form_flag({"table", "json", "yaml", "name"})},
          .run = config_get_contexts};
}

cli::Command config_use_context_command() {
  return {.name = "config use-context",
          .group = kProgramGroup,
          .summary = "Set the current context",
          .positional = cli::Positional{.name = "NAME", .help = "Context", .complete = complete_context},
          .examples = {"edgectl config use-context prod"},
          .run = config_use_context};
}

cli::Command config_set_context_command() {
  return {
      .name = "config set-context",
      .group = kProgramGroup,
      .summary = "Create or change a context",
      .flags = {{.name = "current", .help = "Make it the current context"},
                {.name = "cluster", .value = "NAME", .help = "Cluster of the context"},
                {.name = "namespace", .letter = 'n', .value = "NAME", .help = "Default namespace of the context"},
                {.name = "kubeconfig", .value = "PATH", .help = "Kubeconfig of the cluster"},
                {.name = "kubeconfig-context", .value = "CONTEXT", .help = "Context in the cluster's kubeconfig"},
                {.name = "controller", .value = "HOST:PORT", .help = "gRPC address of the cluster's controller"},
                {.name = "credentials",
                 .value = "FILE",
                 .help = "Administrator's credentials file for that controller"},
                {.name = "traces", .value = "URL", .help = "Endpoint for queries of the cluster's traces"}},
      .positional = cli::Positional{.name = "NAME", .help = "Context", .required = false, .complete = complete_context},
      .examples = {"edgectl config set-context prod --kubeconfig /etc/edge/kubeconfig -n shop",
                   "edgectl config set-context --current -n pay"},
      .run = config_set_context};
}

}  // namespace edge::edgectl
