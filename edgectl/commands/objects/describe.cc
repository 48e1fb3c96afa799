#include "edgectl/resources/describe.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr const char* kDescribe = "edgectl describe";

/// Events about the object; none where they cannot be had, which is no reason to show nothing.
std::vector<Json> events_of(Cluster& cluster, const kube::Object& object, const std::string& kind) {
  const kube::Resource events{.group = {}, .version = "v1", .plural = "events", .kind = "Event"};
  kube::ListOptions options;
  // What has no namespace has its events in `default`.
  options.name_space = object.name_space.empty() ? "default" : object.name_space;
  options.field_selector = "involvedObject.name=" + object.name + ",involvedObject.kind=" + kind;
  std::vector<Json> all;
  const auto list = cluster.api().list_all(events, options);
  if (!list.ok()) tell_warnings({"events cannot be read: " + list.failure.text()});
  for (const kube::Object& item : list.list.items) {
    Json event = parse_json(item.text);
    // Of an earlier object of this name.
    const std::string& uid = text_in(member_in(event, "involvedObject"), "uid");
    if (!uid.empty() && uid != object.uid) continue;
    all.push_back(std::move(event));
  }
  return all;
}

int describe_objects(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kDescribe, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto selections = select(kDescribe, *cluster, arguments, exit);
  if (!selections) return exit;
  tell_of_other_gateways(kDescribe, *cluster, arguments, *selections);
  const bool data = wants_data(arguments);
  Json all = Json::array();
  bool first = true;
  const auto show = [&](const Type& type, const kube::Object& object) {
    const auto events = events_of(*cluster, object, type.resource.kind);
    if (data) {
      all.push_back(description(plain_object(object.text), events));
      return;
    }
    const std::string text = describe(parsed_json(object.text), events, seconds_now());
    if (!cli::write_text(stdout, (first ? "" : "\n") + text)) exit = std::max(exit, cli::kExitFindings);
    first = false;
  };
  for (const Selection& selection : *selections) {
    const Type& type = selection.type;
    if (selection.names.empty()) {
      kube::ListOptions options;
      options.name_space = place_of(type, *cluster, arguments);
      options.label_selector = arguments.one("selector");
      const auto list = cluster->api().list_all(type.resource, options);
      if (!list.ok()) exit = std::max(exit, tell(kDescribe, list.failure, type.resource.plural));
      for (const kube::Object& object : list.list.items) show(type, object);
    }
    for (const std::string& name : selection.names) {
      const std::string name_space = type.resource.namespaced ? cluster->name_space() : std::string();
      const auto reply = cluster->api().get(type.resource, name_space, name);
      if (reply.ok()) {
        show(type, reply.object);
      } else {
        exit = std::max(exit, tell(kDescribe, reply.failure, type.singular() + "/" + name));
      }
    }
  }
  if (!data) return exit;
  const bool one = selections->size() == 1 && selections->front().names.size() == 1;
  if (one && all.empty()) return exit;
  return std::max(exit, print(data_text(arguments, indented_json(one ? all.front() : all))));
}

}  // namespace

cli::Command describe_command() {
  return {.name = "describe",
          .group = kObjectsGroup,
          .summary = "Show objects in detail: spec, conditions, events",
          .details =
              "Of values of Secrets only the size is shown. With `-o json` and `-o yaml` the output is the `object` "
              "and its `events`; for several objects, a list of these.",
          .flags = joined({all_namespaces_flag(), selector_flag(), form_flag({"text", "json", "yaml"})},
                          remote_cluster_flags()),
          .positional = type_argument(),
          .second = names_argument("Names; all without"),
          .examples = {"edgectl describe route cart", "edgectl describe routes -A -o json"},
          .run = describe_objects,
          .global = true};
}

}  // namespace edge::edgectl
