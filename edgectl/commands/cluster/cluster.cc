// edgectl cluster: the other clusters of a hub. Makes what one joins with, lists them, keeps them out, removes them.
#include "edgectl/resources/cluster.h"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/resource_id.h"
#include "base/text/base64.h"
#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "controller/kube/time_text.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/write/write.h"
#include "edgectl/shared_flags.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using controller::InspectClient;

constexpr std::string_view kAdd = "edgectl cluster add";
constexpr std::string_view kToken = "edgectl cluster token";
constexpr std::string_view kKind = "EdgeRemoteCluster";

Type remote_type() {
  const schemas::Kind* const kind = schemas::find_kind(kKind);
  return {.resource = resource_of(*kind), .own = kind};
}

Type secret_type() { return {{.group = {}, .version = "v1", .plural = "secrets", .kind = "Secret"}}; }

std::string cluster_title(const std::string& name) { return "edgeremotecluster/" + name; }

std::string secret_name(const std::string& name) { return name + "-client"; }

/// nullopt: stderr says why.
std::optional<std::chrono::seconds> lifetime_of(std::string_view command, const cli::Arguments& arguments) {
  const auto read = parse_duration(arguments.one("valid-for"));
  const auto seconds = read ? std::chrono::duration_cast<std::chrono::seconds>(*read) : std::chrono::seconds(0);
  if (seconds.count() > 0 && seconds <= std::chrono::hours(24 * 7)) return seconds;
  cli::print_error(command, "`--valid-for` takes a duration of at most 168h, such as `24h`, not `" +
                                arguments.one("valid-for") + "`");
  return std::nullopt;
}

int check_name(std::string_view command, const std::string& name) {
  // `--cluster` without a value reads like it, and the own cluster would answer in its place.
  if (name == "true") return usage(command, "no cluster can be called `true`");
  if (is_cluster_name(name)) return cli::kExitOk;
  return usage(command,
               "a cluster's name is made of lower-case letters, digits and `-`, at most 63, not `" + shown(name) + "`");
}

/// How the other cluster reaches the hub's controller.
int check_address(std::string_view command, const std::string& hub) {
  const std::size_t colon = hub.rfind(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < hub.size()) return cli::kExitOk;
  return usage(command, "`--hub` takes HOST:PORT, not `" + shown(hub) + "`");
}

Json client_secret_of(const std::string& name, const std::string& space, const InspectClient::Invitation& invitation) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", {{"name", secret_name(name)}, {"namespace", space}}},
          {"type", "kubernetes.io/tls"},
          {"data",
           {{"tls.crt", to_base64(invitation.certificate)},
            {"tls.key", to_base64(invitation.key)},
            {"ca.crt", to_base64(invitation.authorities)}}}};
}

/// What every controller of the hub learns of, whichever has revoked it.
Json revocation_of(std::chrono::system_clock::time_point until) { return {{"revokedBefore", kube::time_text(until)}}; }

Json remote_object_of(const cli::Arguments& arguments, const std::string& name, const std::string& space,
                      const InspectClient::Invitation& invitation) {
  Json spec = {{"controllerAddress", arguments.one("hub")},
               {"tls",
                {{"clientSecretRef", {{"name", secret_name(name)}}},
                 {"caSecretRef", {{"name", secret_name(name)}}},
                 {"serverName", "edge-controller"}}}};
  // An older controller does not say it.
  if (invitation.revoked_until != std::chrono::system_clock::time_point()) {
    spec["tls"].update(revocation_of(invitation.revoked_until));
  }
  for (const char* field : {"region", "zone"}) {
    if (arguments.has(field)) spec[field] = arguments.one(field);
  }
  if (arguments.has("agent-group")) spec["agentGroups"] = arguments.all("agent-group");
  return {{"apiVersion", std::string(schemas::find_kind(kKind)->api_version)},
          {"kind", kKind},
          {"metadata", {{"name", name}, {"namespace", space}}},
          {"spec", std::move(spec)}};
}

int write_object(std::string_view command, Cluster& cluster, const Type& type, const Json& object) {
  const std::string name = object["metadata"]["name"];
  const WriteResult result =
      apply_object(cluster, type, cluster.name_space(), object, {.server_side = true, .force = true});
  tell_warnings(result.warnings);
  if (!result.failure.none()) return tell(command, result.failure, type.singular() + "/" + name);
  return print(done_text(type, result.object.name, result.done, DryRun::kNone));
}

/// Of an EdgeRemoteCluster.
kube::ObjectReply merge_into_spec(Cluster& cluster, const std::string& name, const Json& fields) {
  kube::WriteOptions options;
  options.field_manager = kFieldManager;
  return cluster.api().patch(remote_type().resource, cluster.name_space(), name, kube::PatchType::kMerge,
                             json_line(Json{{"spec", fields}}), options);
}

/// \returns the reply; one without a failure where nothing is to be written.
kube::ObjectReply write_revocation(Cluster& cluster, const std::string& name,
                                   std::chrono::system_clock::time_point until) {
  if (until == std::chrono::system_clock::time_point()) return {};
  return merge_into_spec(cluster, name, {{"tls", revocation_of(until)}});
}

int write_join_file(std::string_view command, const std::string& path, const std::string& text) {
  if (Status status = write_file(path, std::string_view(text), FileAccess::kOwnerOnly); !status) {
    return failed(command, status.error().text);
  }
  return cli::kExitOk;
}

std::string path_of(const cli::Arguments& arguments, const std::string& name) {
  return arguments.has("out") ? arguments.one("out") : name + ".join";
}

int add_cluster(const cli::Arguments& arguments) {
  const std::string name = arguments.one("NAME");
  int exit = check_name(kAdd, name);
  if (exit == cli::kExitOk) exit = check_address(kAdd, arguments.one("hub"));
  if (exit != cli::kExitOk) return exit;
  const auto lifetime = lifetime_of(kAdd, arguments);
  if (!lifetime) return cli::kExitUsage;
  const auto cluster = open_cluster(kAdd, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto there = cluster->api().get(remote_type().resource, cluster->name_space(), name);
  if (there.ok()) {
    return failed(
        kAdd, cluster_title(name) + " is there already; edgectl cluster token " + name + " makes it a new join file");
  }
  if (there.failure.http != 404) return tell(kAdd, there.failure, cluster_title(name));
  const auto controller = open_controller(kAdd, arguments, exit);
  if (controller == nullptr) return exit;
  const auto invitation = controller->invite_remote(name, arguments.one("hub"), *lifetime);
  if (!invitation) return tell(kAdd, invitation.error());
  const std::string path = path_of(arguments, name);
  exit = write_join_file(kAdd, path, invitation->text);
  if (exit == cli::kExitOk) {
    exit = write_object(kAdd, *cluster, secret_type(), client_secret_of(name, cluster->name_space(), *invitation));
  }
  if (exit == cli::kExitOk) {
    exit = write_object(kAdd, *cluster, remote_type(),
                        remote_object_of(arguments, name, cluster->name_space(), *invitation));
  }
  if (exit != cli::kExitOk) return exit;
  const bool relayed = arguments.has("agent-group");
  return print("wrote " + path + ", for " + arguments.one("valid-for") + ": on the other cluster, start " +
               (relayed ? "edge-controller --relay" : "edge-controller or edge-standalone") + " with --hub-join " +
               path + "\n");
}

int renew_token(const cli::Arguments& arguments) {
  const std::string name = arguments.one("NAME");
  if (const int exit = check_name(kToken, name); exit != cli::kExitOk) return exit;
  const auto lifetime = lifetime_of(kToken, arguments);
  if (!lifetime) return cli::kExitUsage;
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kToken, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto there = cluster->api().get(remote_type().resource, cluster->name_space(), name);
  if (!there.ok()) return tell(kToken, there.failure, cluster_title(name));
  const Json object = parse_json(there.object.text);
  const std::string hub = text_in(member_in(object, "spec"), "controllerAddress");
  const auto controller = open_controller(kToken, arguments, exit);
  if (controller == nullptr) return exit;
  const auto invitation = controller->invite_remote(name, hub, *lifetime);
  if (!invitation) return tell(kToken, invitation.error());
  const auto written = write_revocation(*cluster, name, invitation->revoked_until);
  if (!written.failure.none()) return tell(kToken, written.failure, cluster_title(name));
  exit = write_join_file(kToken, path_of(arguments, name), invitation->text);
  if (exit != cli::kExitOk) return exit;
  return write_object(kToken, *cluster, secret_type(), client_secret_of(name, cluster->name_space(), *invitation));
}

int list_clusters(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl cluster list";
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return exit;
  kube::ListOptions options;
  if (!arguments.has("all-namespaces")) options.name_space = cluster->name_space();
  const auto reply = cluster->api().list_all(remote_type().resource, options);
  if (!reply.ok()) return tell(kCommand, reply.failure);
  Json all = Json::array();
  TextTable table({"NAMESPACE", "NAME", "PHASE", "VERSION", "AGENTS", "LAST HEARD", "WHY"});
  for (const kube::Object& item : reply.list.items) {
    Json object = parse_json(item.text);
    const Json& status = member_in(object, "status");
    std::string why;
    for (const Json& condition : list_in(status, "conditions")) {
      if (text_in(condition, "type") == "Connected") why = text_in(condition, "message");
    }
    const auto cell = [](const std::string& text) { return text.empty() ? std::string("<none>") : shown(text); };
    table.add({shown(item.name_space), shown(item.name), cell(text_in(status, "phase")),
               cell(text_in(status, "version")), cell(text_in(member_in(status, "agents"), "summary")),
               cell(text_in(status, "lastHeartbeat")), cell(why)});
    all.push_back(std::move(object));
  }
  if (wants_data(arguments)) return print(data_text(arguments, all));
  if (!table.empty()) return print(table.take(true));
  cli::print_message("edgectl", "this cluster is no hub: there is no EdgeRemoteCluster");
  return cli::kExitOk;
}

struct Revoked {
  std::string name;
  std::unique_ptr<Cluster> hub;
  std::chrono::system_clock::time_point until;
};

/// Ends the connection of the cluster that the command names, and has the controller refuse its certificates; no object
/// says so yet. nullopt: `exit` is set and stderr says why.
std::optional<Revoked> revoke(std::string_view command, const cli::Arguments& arguments, int& exit) {
  const std::string name = arguments.one("NAME");
  exit = check_name(command, name);
  if (exit != cli::kExitOk) return std::nullopt;
  auto hub = open_cluster(command, arguments, exit);
  if (hub == nullptr) return std::nullopt;
  const auto controller = open_controller(command, arguments, exit);
  if (controller == nullptr) return std::nullopt;
  const auto until = controller->revoke_remote(name);
  if (until) return Revoked{name, std::move(hub), *until};
  exit = tell(command, until.error());
  return std::nullopt;
}

int revoke_cluster(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl cluster revoke";
  int exit = cli::kExitOk;
  const auto revoked = revoke(kCommand, arguments, exit);
  if (!revoked) return exit;
  const std::string& name = revoked->name;
  // One without an object is let in by no controller.
  const auto written = write_revocation(*revoked->hub, name, revoked->until);
  if (!written.failure.none() && written.failure.http != 404) {
    return tell(kCommand, written.failure, cluster_title(name));
  }
  return print(
      name + " is revoked: its connection ends, and it comes back by a new join file alone (edgectl cluster token)\n");
}

int remove_cluster(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl cluster remove";
  int exit = cli::kExitOk;
  // First what it could come back with.
  const auto revoked = revoke(kCommand, arguments, exit);
  if (!revoked) return exit;
  const std::string& name = revoked->name;
  Cluster& hub = *revoked->hub;
  const std::string& space = hub.name_space();
  const auto object = hub.api().remove(remote_type().resource, space, name);
  if (!object.ok()) return tell(kCommand, object.failure, cluster_title(name));
  const auto secret = hub.api().remove(secret_type().resource, space, secret_name(name));
  if (!secret.ok() && secret.failure.http != 404) return tell(kCommand, secret.failure, "secret/" + secret_name(name));
  // What refuses its certificates at every controller went with the object.
  return print(remote_type().qualified(name) +
               " removed; the cluster serves on by itself. If you write an EdgeRemoteCluster `" + name +
               "` again, revoke it (edgectl cluster revoke or token), or its certificate of before may let it in\n");
}

int set_suspended(std::string_view command, const cli::Arguments& arguments, bool suspended) {
  const std::string name = arguments.one("NAME");
  int exit = check_name(command, name);
  if (exit != cli::kExitOk) return exit;
  const auto cluster = open_cluster(command, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto reply = merge_into_spec(*cluster, name, {{"suspended", suspended}});
  if (!reply.ok()) return tell(command, reply.failure, cluster_title(name));
  return print(remote_type().qualified(name) + (suspended ? " suspended\n" : " resumed\n"));
}

int suspend_cluster(const cli::Arguments& arguments) {
  return set_suspended("edgectl cluster suspend", arguments, /*suspended=*/true);
}
int resume_cluster(const cli::Arguments& arguments) {
  return set_suspended("edgectl cluster resume", arguments, /*suspended=*/false);
}

cli::Positional cluster_argument() { return {.name = "NAME", .help = "Name of the EdgeRemoteCluster"}; }

std::vector<cli::Flag> file_flags() {
  return {{.name = "out", .value = "FILE", .help = "Join file to write (mode 0600); default: NAME.join"},
          {.name = "valid-for",
           .value = "DURATION",
           .help = "How long the join file can be used, at most 168h",
           .fallback = "24h"}};
}

cli::Command of_cluster(std::string_view name, std::string_view summary, std::string_view details,
                        std::vector<cli::Flag> flags, int (*run)(const cli::Arguments&)) {
  return {.name = name,
          .group = kClusterGroup,
          .summary = summary,
          .details = details,
          .flags = std::move(flags),
          .positional = cluster_argument(),
          .run = run,
          .global = true};
}

}  // namespace

std::vector<cli::Command> cluster_commands() {
  cli::Command add = of_cluster(
      "cluster add", "Let another cluster connect to this one, the hub",
      "Writes an EdgeRemoteCluster, a Secret of type kubernetes.io/tls with a first certificate of the role `remote`, "
      "and "
      "one join file for the other cluster. The file is a secret; the certificate in it is replaced at the first "
      "connection, and is then of no use.",
      joined(joined(controller_flags(), file_flags()),
             {{.name = "hub",
               .value = "HOST:PORT",
               .help = "Address of this cluster's controller (--agents-listen) as the other cluster reaches it",
               .required = true},
              {.name = "region", .value = "NAME", .help = "Region of the other cluster"},
              {.name = "zone", .value = "NAME", .help = "Zone of the other cluster within its region"},
              {.name = "agent-group",
               .value = "NAME",
               .help = "Group that agents of the other cluster may be in, which take programs from this one through "
                       "edge-controller --relay",
               .repeatable = true}}),
      add_cluster);
  add.examples = {"edgectl cluster add berlin --hub hub.example.com:9090 -n edge-system",
                  "edgectl cluster add shop-17 --hub hub.example.com:9090 --agent-group shops"};
  cli::Command list{.name = "cluster list",
                    .group = kClusterGroup,
                    .summary = "List the clusters of this hub, and whether each is connected",
                    .flags = {all_namespaces_flag(), form_flag({"table", "json", "yaml"})},
                    .examples = {"edgectl cluster list -A"},
                    .run = list_clusters,
                    .global = true};
  cli::Command token = of_cluster("cluster token", "Create a new join file for a cluster",
                                  "For a cluster that lost its data directory, or was revoked. Certificates issued to "
                                  "this name before are refused from then on.",
                                  joined(controller_flags(), file_flags()), renew_token);
  token.examples = {"edgectl cluster token berlin --out berlin.join"};
  return {std::move(add),
          std::move(list),
          std::move(token),
          of_cluster("cluster revoke", "Revoke every certificate of a cluster, and close its connection", {},
                     controller_flags(), revoke_cluster),
          of_cluster("cluster suspend", "Keep a cluster out without forgetting it", {}, {}, suspend_cluster),
          of_cluster("cluster resume", "Let a suspended cluster connect again", {}, {}, resume_cluster),
          of_cluster("cluster remove", "Revoke a cluster, and delete its EdgeRemoteCluster and Secret", {},
                     controller_flags(), remove_cluster)};
}

}  // namespace edge::edgectl
