#include "edgectl/install/installer.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "controller/operator/render/install.h"
#include "edgectl/install/examine.h"
#include "edgectl/install/version.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/write/write.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// An API server lists a definition as established a moment before every replica of it serves the kind.
constexpr std::chrono::seconds kServedSoon(15);
constexpr const char* kOwnLabel = "app.kubernetes.io/part-of=edge";

bool is_true(const Json& object, std::string_view condition) {
  for (const Json& one : list_in(member_in(object, "status"), "conditions")) {
    if (text_in(one, "type") == condition) return text_in(one, "status") == "True";
  }
  return false;
}

std::string ready_message(const Json& object) {
  for (const Json& one : list_in(member_in(object, "status"), "conditions")) {
    if (text_in(one, "type") == "Ready") return shown(text_in(one, "message"));
  }
  return {};
}

/// What a dry run compares: an object without what the server counts.
Json comparable(std::string_view text) {
  Json object = plain_object(text);
  if (object.is_object() && object.contains("metadata") && object["metadata"].is_object()) {
    object["metadata"].erase("resourceVersion");
    object["metadata"].erase("generation");
  }
  return object;
}

Type type_of(const Planned& object) { return {.resource = resource_of(object)}; }

bool is_paused(const Json& object) {
  const Json& paused = member_in(member_in(object, "spec"), "paused");
  return paused.is_boolean() && paused.get<bool>();
}

/// Deployed as the newest generation says.
bool is_rolled_out(const Json& deployment) {
  const Json& status = member_in(deployment, "status");
  const Json& metadata = member_in(deployment, "metadata");
  const std::int64_t wanted = integer_in(member_in(deployment, "spec"), "replicas");
  return integer_in(status, "observedGeneration") >= integer_in(metadata, "generation") &&
         integer_in(status, "updatedReplicas") >= wanted && integer_in(status, "availableReplicas") >= wanted &&
         integer_in(status, "replicas") <= wanted;
}

/// Why a container does not start, other than that it is about to.
std::string trouble_of(const Json& pod) {
  const Json& status = member_in(pod, "status");
  for (const Json& container : list_in(status, "containerStatuses")) {
    const Json& waiting = member_in(member_in(container, "state"), "waiting");
    const std::string& reason = text_in(waiting, "reason");
    if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") continue;
    const std::string& message = text_in(waiting, "message");
    return reason + (message.empty() ? "" : ": " + message);
  }
  for (const Json& condition : list_in(status, "conditions")) {
    if (text_in(condition, "type") != "PodScheduled" || text_in(condition, "status") != "False") continue;
    return text_in(condition, "reason") + ": " + text_in(condition, "message");
  }
  return {};
}

}  // namespace

kube::Resource edge_clusters() { return resource_of(*schemas::find_kind("EdgeCluster")); }

Installer::Installer(std::string_view command, Cluster& cluster, const InstallOptions& options, ApplySettings settings)
    : command_(command),
      cluster_(cluster),
      options_(options),
      settings_(settings),
      line_(command),
      pauses_(settings.patience) {}

int Installer::apply(const std::vector<Planned>& objects) {
  bool established = false;
  std::size_t count = 0;
  for (const Planned& object : objects) {
    if (object.part != Part::kDefinitions && !std::exchange(established, true)) {
      if (const int exit = wait_for_definitions(objects); exit != cli::kExitOk) return exit;
    }
    line_.show(std::to_string(++count) + " of " + std::to_string(objects.size()) + ": " + object.kind + " " +
               object.name);
    if (const int exit = apply(object); exit != cli::kExitOk) return exit;
  }
  line_.clear();
  return cli::kExitOk;
}

int Installer::remove_other_bindings(const std::vector<Planned>& objects) {
  const std::pair<bool, std::string_view> rights[] = {{options_.acme, cluster_operator::kOrderingComponent},
                                                      {options_.federation, cluster_operator::kFederationComponent}};
  for (const auto& [given, component] : rights) {
    if (!given) continue;
    if (const int exit = remove_other_bindings(component, objects); exit != cli::kExitOk) return exit;
  }
  return cli::kExitOk;
}

int Installer::remove_other_bindings(std::string_view component, const std::vector<Planned>& objects) {
  kube::ListOptions given;
  given.label_selector = rights_selector(component, options_.name_space);
  const std::string group = "rbac.authorization.k8s.io";
  const kube::Resource kinds[] = {
      {.group = group, .version = "v1", .plural = "rolebindings", .kind = "RoleBinding", .namespaced = true},
      {.group = group, .version = "v1", .plural = "clusterrolebindings", .kind = "ClusterRoleBinding"}};
  for (const kube::Resource& kind : kinds) {
    const auto list = cluster_.api().list_all(kind, given);
    if (!list.ok()) return tell(command_, list.failure, kind.plural);
    for (const kube::Object& live : list.list.items) {
      const bool planned = std::ranges::any_of(objects, [&](const Planned& object) {
        return object.kind == kind.kind && object.name == live.name && object.name_space == live.name_space;
      });
      if (planned) continue;
      const Type type{.resource = kind};
      const auto reply = cluster_.api().remove(kind, live.name_space, live.name, {.dry_run = settings_.dry_run});
      if (reply.failure.not_found()) continue;
      if (!reply.ok()) return tell(command_, reply.failure, type.singular() + "/" + live.name);
      cli::write_text(stdout,
                      done_text(type, live.name, "deleted", settings_.dry_run ? DryRun::kServer : DryRun::kNone));
    }
  }
  return cli::kExitOk;
}

int Installer::apply(const Planned& object) {
  const Type type = type_of(object);
  const auto say = [&](std::string_view done) {
    line_.clear();
    const std::string text = done_text(type, object.name, done, settings_.dry_run ? DryRun::kServer : DryRun::kNone);
    return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings;
  };
  const bool unsent =
      (namespace_missing_ && !object.name_space.empty()) || (definitions_missing_ && object.part == Part::kCluster);
  if (unsent) return say("created");
  const auto live = cluster_.api().get(type.resource, object.name_space, object.name);
  if (!live.ok() && !live.failure.not_found()) return refused(object, live.failure);
  if (!live.ok() && settings_.dry_run) {
    namespace_missing_ |= object.part == Part::kNamespace;
    definitions_missing_ |= object.part == Part::kDefinitions;
  }
  if (live.ok() && object.part == Part::kCluster) {
    return say("is there, and stays as it is");
  }
  const WriteSettings settings{.server_side = true,
                               .force = settings_.force,
                               .dry_run = settings_.dry_run ? DryRun::kServer : DryRun::kNone,
                               .field_manager = std::string(kInstallManager),
                               .field_validation = "Strict"};
  const Json wanted = parse_json(object.text);
  WriteResult result = apply_object(cluster_, type, object.name_space, wanted, settings);
  for (Pauses soon(kServedSoon); object.part == Part::kCluster && result.failure.not_found() && !soon.over();) {
    soon.pause();
    result = apply_object(cluster_, type, object.name_space, wanted, settings);
  }
  if (!result.failure.none()) return refused(object, result.failure);
  std::erase_if(result.warnings, [&](const std::string& warning) { return !warnings_.insert(warning).second; });
  line_.clear();
  tell_warnings(result.warnings);
  if (!live.ok()) return say("created");
  const bool same = settings_.dry_run ? comparable(result.object.text) == comparable(live.object.text)
                                      : result.object.resource_version == live.object.resource_version;
  return say(same ? "unchanged" : "configured");
}

int Installer::refused(const Planned& object, const kube::Failure& failure) {
  line_.clear();
  const int exit = tell(command_, failure, type_of(object).singular() + "/" + object.name);
  if (failure.conflict()) {
    cli::print_message("edgectl", "somebody else manages these fields; --force-conflicts takes them over");
  } else if (failure.refused(403)) {
    cli::print_message("edgectl", "what was applied before it stays; the same command goes on from there");
  }
  return exit;
}

int Installer::wait_for_definitions(const std::vector<Planned>& objects) {
  if (settings_.dry_run) return cli::kExitOk;
  for (const Planned& object : objects) {
    if (object.part != Part::kDefinitions) continue;
    for (;;) {
      const auto reply = cluster_.api().get(resource_of(object), {}, object.name);
      if (!reply.ok() && !reply.failure.temporary()) return refused(object, reply.failure);
      if (reply.ok() && is_true(parsed_json(reply.object.text), "Established")) break;
      line_.show("definition " + object.name + " is taken over by the API");
      if (pauses_.over()) return timed_out("definition " + object.name + " is not established");
      pauses_.pause();
    }
  }
  return cli::kExitOk;
}

int Installer::timed_out(const std::string& what) {
  line_.tell("the time of --timeout is over: " + what + "; what was applied goes on by itself");
  return cli::kExitFindings;
}

/// The first pod of the namespace that does not start, with its reason.
std::string Installer::pod_trouble() {
  const kube::Resource pods{.group = {}, .version = "v1", .plural = "pods", .kind = "Pod", .namespaced = true};
  kube::ListOptions options;
  options.name_space = options_.name_space;
  options.label_selector = kOwnLabel;
  for (const kube::Object& object : cluster_.api().list_all(pods, options).list.items) {
    const std::string trouble = trouble_of(parsed_json(object.text));
    if (!trouble.empty()) return shown("pod " + object.name + ": " + trouble);
  }
  return {};
}

int Installer::wait_for_operator() {
  for (;;) {
    kube::Failure failure;
    const Json deployment = installed_operator(cluster_, options_.name_space, failure);
    if (!failure.none() && !failure.temporary()) return tell(command_, failure, "deployment/edge-operator");
    if (failure.none() && is_rolled_out(deployment)) break;
    if (pauses_.over()) {
      const std::string trouble = pod_trouble();
      return timed_out("the operator is not available" + (trouble.empty() ? trouble : " (" + trouble + ")"));
    }
    line_.show("waiting for the operator");
    pauses_.pause();
  }
  line_.clear();
  cli::write_text(stdout, "operator available\n");
  return cli::kExitOk;
}

int Installer::upgrade_clusters(const std::string& repository) {
  kube::ListOptions options;
  options.name_space = options_.name_space;
  const auto list = cluster_.api().list_all(edge_clusters(), options);
  if (list.failure.not_found() && settings_.dry_run) return cli::kExitOk;  // the kind is still to be defined
  if (!list.ok()) return tell(command_, list.failure, "edgeclusters");
  int exit = cli::kExitOk;
  for (const kube::Object& object : list.list.items) exit = std::max(exit, upgrade_cluster(object, repository));
  return exit;
}

int Installer::upgrade_cluster(const kube::Object& object, const std::string& repository) {
  const Type type{.resource = edge_clusters()};
  const Json live = parsed_json(object.text);
  const Json& spec = member_in(live, "spec");
  const std::string& version = text_in(spec, "version");
  if (skew_of(version, options_.tag) == Skew::kTooFar) {
    line_.tell("edgecluster/" + object.name + " is of version " + shown(version) +
               ": go one minor version at a time, not to " + options_.tag);
    return cli::kExitFindings;
  }
  Json change = Json::object();
  if (version != options_.tag) change["version"] = options_.tag;
  if (!repository.empty() && text_in(member_in(spec, "image"), "repository") != repository) {
    change["image"]["repository"] = repository;
  }
  std::string_view done = "unchanged";
  if (!change.empty()) {
    // Of a change that somebody else makes meanwhile the server tells.
    const Json patch = {{"metadata", {{"resourceVersion", object.resource_version}}}, {"spec", change}};
    const auto reply = cluster_.api().patch(
        type.resource, object.name_space, object.name, kube::PatchType::kMerge, json_line(patch),
        {.field_manager = std::string(kInstallManager), .dry_run = settings_.dry_run, .field_validation = "Strict"});
    if (!reply.ok()) return tell(command_, reply.failure, "edgecluster/" + object.name);
    done = "configured";
  }
  cli::write_text(stdout, done_text(type, object.name, done, settings_.dry_run ? DryRun::kServer : DryRun::kNone));
  return cli::kExitOk;
}

int Installer::wait_for_clusters() {
  kube::ListOptions options;
  options.name_space = options_.name_space;
  for (;;) {
    const auto list = cluster_.api().list_all(edge_clusters(), options);
    if (!list.ok() && !list.failure.temporary()) return tell(command_, list.failure, "edgeclusters");
    std::string waiting;
    for (const kube::Object& item : list.list.items) {
      const Json object = parsed_json(item.text);
      const Json& status = member_in(object, "status");
      const std::string phase = shown(text_in(status, "phase"));
      const bool seen = integer_in(status, "observedGeneration") >= item.generation;
      if (is_paused(object) || (seen && phase == "Running")) continue;
      const std::string why = ready_message(object);
      waiting = "edgecluster/" + item.name + " is " + (phase.empty() || !seen ? "not looked at yet" : phase) +
                (why.empty() || !seen ? "" : ": " + why);
      // Nothing more happens until somebody changes it.
      if (seen && phase == "Failed") {
        line_.tell(waiting);
        return cli::kExitFindings;
      }
      break;
    }
    if (list.ok() && waiting.empty()) break;
    line_.show(waiting);
    if (pauses_.over()) {
      const std::string trouble = pod_trouble();
      return timed_out(waiting + (trouble.empty() ? trouble : " (" + trouble + ")"));
    }
    pauses_.pause();
  }
  line_.clear();
  cli::write_text(stdout, "every edgecluster of " + options_.name_space + " is Running\n");
  return cli::kExitOk;
}

}  // namespace edge::edgectl
