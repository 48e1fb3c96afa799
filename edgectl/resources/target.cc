#include "edgectl/resources/target.h"

#include <cstdlib>

#include "edgectl/resources/complete.h"

namespace edge::edgectl {
namespace {

bool in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// `value` unless something closer said it already.
void fill(std::string& into, const std::string& value) {
  if (into.empty()) into = value;
}

}  // namespace

std::vector<cli::Flag> target_flags() {
  return {
      {.name = "kubeconfig",
       .value = "PATH",
       .help = "Kubeconfig (default: the context's, else $KUBECONFIG, else ~/.kube/config)"},
      {.name = "context",
       .value = "NAME",
       .help = "Context of ~/.edgectl/config or of the kubeconfig",
       .environment = "EDGECTL_CONTEXT",
       .complete = complete_context},
      {.name = "namespace",
       .letter = 'n',
       .value = "NAME",
       .help = "Namespace (default: the context's, else `default`)",
       .environment = "EDGECTL_NAMESPACE",
       .complete = complete_namespace},
      {.name = "request-timeout", .value = "DURATION", .help = "Timeout of one call", .fallback = "30s"},
      {.name = "output",
       .letter = 'o',
       .value = "FORM",
       .help = "Output format, of commands that have several",
       .passed_on = true},
      {.name = "all-namespaces", .letter = 'A', .help = "All namespaces, of commands that list", .passed_on = true},
  };
}

Result<Target> target_of(const cli::Arguments& arguments, const ClientConfig& config) {
  Target target{.kubeconfig = arguments.one("kubeconfig"),
                .context = {},
                .name_space = arguments.one("namespace"),
                .controller = arguments.one("controller"),
                .credentials = arguments.one("credentials")};
  const std::string named = arguments.one("context");
  const bool elsewhere = !target.kubeconfig.empty() || in_environment("KUBECONFIG");
  const std::string& name = named.empty() && !elsewhere ? config.current() : named;
  const ClientContext* context = config.find_context(name);
  if (context == nullptr) {
    if (named.empty() && !name.empty()) {
      return Error{ErrorCode::kInvalidArgument, "~/.edgectl/config: there is no context `" + name +
                                                    "`, which is the current one; see `edgectl config get-contexts`"};
    }
    target.context = named;
    return target;
  }
  fill(target.name_space, context->name_space);
  if (context->cluster.empty()) return target;
  const ClientCluster* cluster = config.find_cluster(context->cluster);
  if (cluster == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "~/.edgectl/config: context `" + name + "` names the cluster `" +
                                                  context->cluster + "`, which is not there"};
  }
  // Another kubeconfig on the command line has contexts of its own.
  if (target.kubeconfig.empty()) target.context = cluster->context;
  fill(target.kubeconfig, cluster->kubeconfig);
  fill(target.controller, cluster->controller);
  fill(target.credentials, cluster->credentials);
  fill(target.traces, cluster->traces);
  return target;
}

}  // namespace edge::edgectl
