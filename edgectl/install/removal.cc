#include "edgectl/install/removal.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "controller/operator/installation.h"
#include "controller/operator/render/install.h"
#include "controller/operator/render/render.h"
#include "edgectl/install/examine.h"
#include "edgectl/install/installer.h"
#include "edgectl/install/plan.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/write/write.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// Names of the elections that operator and controller hold.
constexpr const char* kLeases[] = {"edge-operator", "edge-controller"};
/// What controllers tell each other which agents are revoked by.
constexpr const char* kRevokedAgents = "edge-revoked-agents";
/// What has pods, and ends slowest: agents drain.
constexpr const char* kWorkloads[] = {"DaemonSet", "Deployment", "Pod"};

kube::Resource known_resource(std::string_view kind) {
  const cluster_operator::ObjectKind& known = cluster_operator::object_kind(kind);
  return resource_of(Planned{.part = Part::kOperator,
                             .api_version = std::string(known.api_version),
                             .kind = std::string(known.kind),
                             .name = {},
                             .name_space = {},
                             .text = {}});
}

std::string managed_by_operator() {
  return std::string(cluster_operator::kManagedBy) + "=" + std::string(cluster_operator::kFieldManager);
}

const kube::Resource& leases() {
  static const kube::Resource kResource{
      .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .kind = "Lease", .namespaced = true};
  return kResource;
}

/// What plan() makes for the namespace, without names of images, which no removal needs.
std::vector<Planned> planned_of(const std::string& name_space) {
  InstallOptions options;
  options.name_space = name_space;
  options.repository = "registry.invalid";
  auto objects = plan(options);
  return objects ? std::move(*objects) : std::vector<Planned>();
}

}  // namespace

Removal::Removal(std::string_view command, Cluster& cluster, RemovalSettings settings)
    : command_(command),
      cluster_(cluster),
      settings_(std::move(settings)),
      line_(command),
      pauses_(settings_.patience) {}

int Removal::run() {
  if (const int exit = check(); exit != cli::kExitOk) return exit;
  // The operator ends what it made; it goes after that.
  for (const auto step : {&Removal::remove_clusters, &Removal::remove_cluster_wide, &Removal::remove_operator}) {
    if (const int exit = (this->*step)(); exit != cli::kExitOk) return exit;
  }
  if (settings_.remove_namespace) {
    const kube::Resource spaces{
        .group = {}, .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
    if (const int exit = remove(spaces, {}, settings_.name_space); exit != cli::kExitOk) return exit;
  }
  if (settings_.definitions) {
    if (const int exit = remove_definitions(); exit != cli::kExitOk) return exit;
  }
  line_.clear();
  if (!removed_) {
    cli::print_message("edgectl", "nothing is installed in the namespace " + settings_.name_space);
  } else if (!settings_.definitions && !settings_.dry_run) {
    cli::print_message("edgectl",
                       "the definitions and the objects of these kinds stay; `edgectl uninstall --crds` "
                       "removes them");
  }
  return cli::kExitOk;
}

int Removal::check() {
  kube::Failure failure;
  const Json deployment = installed_operator(cluster_, settings_.name_space, failure);
  if (!failure.none()) return tell(command_, failure, "deployment/edge-operator");
  const Json& annotations = member_in(member_in(deployment, "metadata"), "annotations");
  const std::string& release = text_in(annotations, "meta.helm.sh/release-name");
  if (!release.empty() && !settings_.force) {
    line_.tell("the operator was installed by Helm, as release " + shown(release) + ": use `helm uninstall`");
    return cli::kExitFindings;
  }
  return settings_.definitions && !settings_.force ? check_definitions() : cli::kExitOk;
}

/// With a definition go the objects of its kind, in every namespace.
int Removal::check_definitions() {
  std::string there;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    const auto list = cluster_.api().list_all(resource_of(kind), {});
    if (list.failure.not_found()) continue;
    if (!list.ok()) return tell(command_, list.failure, kind.plural);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(list.list.items, [&](const kube::Object& object) {
      // Those go anyway.
      return kind.kind != "EdgeCluster" || object.name_space != settings_.name_space;
    }));
    if (count == 0) continue;
    there += (there.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(kind.plural);
  }
  if (there.empty()) return cli::kExitOk;
  line_.tell("--crds would delete " + there + " with the definitions; nothing was removed. --force deletes them too");
  return cli::kExitFindings;
}

int Removal::remove_clusters() {
  kube::ListOptions own;
  own.name_space = settings_.name_space;
  if (const int exit = remove_all(edge_clusters(), own); exit != cli::kExitOk) return exit;
  if (settings_.dry_run) return cli::kExitOk;
  own.label_selector = managed_by_operator();
  for (const char* kind : kWorkloads) {
    if (const int exit = wait_until_empty(known_resource(kind), own); exit != cli::kExitOk) return exit;
  }
  return cli::kExitOk;
}

/// The operator removes them, if it runs.
int Removal::remove_cluster_wide() {
  kube::ListOptions own;
  own.label_selector =
      managed_by_operator() + "," + std::string(cluster_operator::kClusterNamespaceLabel) + "=" + settings_.name_space;
  for (const char* kind : {"ClusterRoleBinding", "ClusterRole"}) {
    if (const int exit = remove_all(known_resource(kind), own); exit != cli::kExitOk) return exit;
  }
  // The rights to order certificates and to write what is federated, which `install` gave; in whatever namespaces.
  for (const std::string_view component :
       {cluster_operator::kOrderingComponent, cluster_operator::kFederationComponent}) {
    kube::ListOptions given;
    given.label_selector = rights_selector(component, settings_.name_space);
    for (const char* kind : {"RoleBinding", "ClusterRoleBinding", "ClusterRole"}) {
      if (const int exit = remove_all(known_resource(kind), given); exit != cli::kExitOk) return exit;
    }
  }
  return cli::kExitOk;
}

int Removal::remove_operator() {
  std::vector<Planned> objects = planned_of(settings_.name_space);
  std::ranges::reverse(objects);
  for (const Planned& object : objects) {
    if (object.part != Part::kOperator) continue;
    const int exit = remove(resource_of(object), object.name_space, object.name);
    if (exit != cli::kExitOk) return exit;
  }
  for (const char* name : kLeases) {
    if (const int exit = remove(leases(), settings_.name_space, name); exit != cli::kExitOk) return exit;
  }
  if (const int exit = remove(known_resource("ConfigMap"), settings_.name_space, kRevokedAgents);
      exit != cli::kExitOk) {
    return exit;
  }
  if (settings_.dry_run) return cli::kExitOk;
  kube::ListOptions pods;
  pods.name_space = settings_.name_space;
  pods.label_selector = "app.kubernetes.io/part-of=edge,app.kubernetes.io/component=operator";
  return wait_until_empty(known_resource("Pod"), pods);
}

int Removal::remove_definitions() {
  for (const Planned& object : planned_of(settings_.name_space)) {
    if (object.part != Part::kDefinitions) continue;
    if (const int exit = remove(resource_of(object), {}, object.name); exit != cli::kExitOk) return exit;
  }
  return cli::kExitOk;
}

int Removal::remove_all(const kube::Resource& resource, const kube::ListOptions& which) {
  const auto list = cluster_.api().list_all(resource, which);
  if (list.failure.not_found()) return cli::kExitOk;  // the kind is not defined
  if (!list.ok()) return tell(command_, list.failure, resource.plural);
  for (const kube::Object& object : list.list.items) {
    if (const int exit = remove(resource, object.name_space, object.name); exit != cli::kExitOk) return exit;
  }
  return settings_.dry_run ? cli::kExitOk : wait_until_empty(resource, which);
}

int Removal::remove(const kube::Resource& resource, const std::string& name_space, const std::string& name) {
  const Type type{.resource = resource};
  const auto reply =
      cluster_.api().remove(resource, name_space, name, {.propagation = "Background", .dry_run = settings_.dry_run});
  if (reply.failure.not_found()) return cli::kExitOk;
  line_.clear();
  if (!reply.ok()) return tell(command_, reply.failure, type.singular() + "/" + name);
  removed_ = true;
  const std::string text = done_text(type, name, "deleted", settings_.dry_run ? DryRun::kServer : DryRun::kNone);
  return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings;
}

int Removal::wait_until_empty(const kube::Resource& resource, const kube::ListOptions& which) {
  for (;;) {
    const auto list = cluster_.api().list_all(resource, which);
    if (list.failure.not_found() || (list.ok() && list.list.items.empty())) break;
    if (!list.ok() && !list.failure.temporary()) return tell(command_, list.failure, resource.plural);
    const std::string first = list.list.items.empty() ? resource.plural : list.list.items.front().key();
    line_.show("waiting for the end of " + std::to_string(list.list.items.size()) + " " + resource.plural + " (" +
               first + ")");
    if (pauses_.over()) {
      line_.tell("the time of --timeout is over: " + resource.plural + " " + shown(first) +
                 " is still there; the same command goes on from there");
      return cli::kExitFindings;
    }
    pauses_.pause();
  }
  line_.clear();
  return cli::kExitOk;
}

}  // namespace edge::edgectl
