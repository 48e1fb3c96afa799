// Columns of `kubectl get` for built-in kinds, as in Kubernetes 1.33.
#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/built_in/built_in.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::string_view kNone = "<none>";

/// The value behind several names.
const Json& at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = &object;
  for (const std::string_view name : path) value = &member_in(*value, name);
  return *value;
}

std::string cell_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump();
}

std::string or_none(std::string text) { return text.empty() ? std::string(kNone) : text; }

std::int64_t number_of(const Json& value) { return value.is_number() ? value.get<std::int64_t>() : 0; }

Json age(const Json& time, std::int64_t now) {
  const std::int64_t then = time.is_string() ? time_of(time.get_ref<const std::string&>()) : -1;
  return then == -1 ? std::string("<unknown>") : age_text(now - then);
}

Json age_cell(const Json& object, std::int64_t now) { return age(at(object, {"metadata", "creationTimestamp"}), now); }

Json created_cell(const Json& object, std::int64_t) { return cell_text(at(object, {"metadata", "creationTimestamp"})); }

/// `told` of each entry, by commas; of many the first three.
template <typename Visitor>
std::string listed(const Json& list, Visitor text_for, std::size_t most = SIZE_MAX) {
  std::string out;
  if (!list.is_array()) return out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == most) return out + words({" + ", std::to_string(list.size() - most), " more..."});
    const std::string text = text_for(list[i]);
    if (!text.empty()) out += (out.empty() ? "" : ",") + text;
  }
  return out;
}

std::string selector_text(const Json& labels) {
  std::string out;
  if (!labels.is_object()) return std::string(kNone);
  for (const auto& [name, value] : labels.items()) out += words({out.empty() ? "" : ",", name, "=", cell_text(value)});
  return or_none(out);
}

// -- Service

std::string ingress_addresses(const Json& object) {
  return listed(at(object, {"status", "loadBalancer", "ingress"}), [](const Json& entry) {
    const std::string ip = cell_text(member_in(entry, "ip"));
    return ip.empty() ? cell_text(member_in(entry, "hostname")) : ip;
  });
}

Json external_ip_cell(const Json& object, std::int64_t) {
  const std::string type = cell_text(at(object, {"spec", "type"}));
  if (type == "ExternalName") return or_none(cell_text(at(object, {"spec", "externalName"})));
  std::string all = listed(at(object, {"spec", "externalIPs"}), cell_text);
  if (type != "LoadBalancer") return or_none(all);
  const std::string given = ingress_addresses(object);
  if (!given.empty()) all = all.empty() ? given : words({given, ",", all});
  return all.empty() ? "<pending>" : all;
}

Json service_ports_cell(const Json& object, std::int64_t) {
  return or_none(listed(at(object, {"spec", "ports"}), [](const Json& port) {
    std::string out = cell_text(member_in(port, "port"));
    if (number_of(member_in(port, "nodePort")) > 0) out += ":" + cell_text(member_in(port, "nodePort"));
    const std::string protocol = cell_text(member_in(port, "protocol"));
    return words({out, "/", protocol.empty() ? "TCP" : protocol});
  }));
}

Json service_selector_cell(const Json& object, std::int64_t) { return selector_text(at(object, {"spec", "selector"})); }

// -- Secret, ConfigMap

Json data_cell(const Json& object, std::int64_t) {
  return std::int64_t(member_in(object, "data").size() + member_in(object, "binaryData").size());
}

// -- endpoints

Json endpoints_cell(const Json& object, std::int64_t) {
  std::vector<std::string> all;
  const Json& subsets = member_in(object, "subsets");
  if (subsets.is_array()) {
    for (const Json& subset : subsets) {
      const Json& addresses = member_in(subset, "addresses");
      const Json& ports = member_in(subset, "ports");
      if (!addresses.is_array()) continue;
      for (const Json& address : addresses) {
        const std::string ip = cell_text(member_in(address, "ip"));
        if (!ports.is_array() || ports.empty()) all.push_back(ip);
        for (const Json& port : ports) all.push_back(words({ip, ":", cell_text(member_in(port, "port"))}));
      }
    }
  }
  return or_none(listed(Json(all), cell_text, 3));
}

Json slice_ports_cell(const Json& object, std::int64_t) {
  const Json& ports = member_in(object, "ports");
  if (!ports.is_array() || ports.empty()) return "<unset>";
  return listed(
      ports,
      [](const Json& port) {
        const std::string number = cell_text(member_in(port, "port"));
        return number.empty() ? "*" : number;
      },
      3);
}

Json slice_endpoints_cell(const Json& object, std::int64_t) {
  Json all = Json::array();
  const Json& endpoints = member_in(object, "endpoints");
  if (endpoints.is_array()) {
    for (const Json& endpoint : endpoints) {
      const Json& addresses = member_in(endpoint, "addresses");
      for (const Json& address : addresses) all.push_back(address);
    }
  }
  const std::string text = listed(all, cell_text, 3);
  return text.empty() ? "<unset>" : text;
}

// -- Ingress

Json ingress_hosts_cell(const Json& object, std::int64_t) {
  const std::string hosts =
      listed(at(object, {"spec", "rules"}), [](const Json& rule) { return cell_text(member_in(rule, "host")); }, 3);
  return hosts.empty() ? "*" : hosts;
}

Json ingress_address_cell(const Json& object, std::int64_t) { return ingress_addresses(object); }

Json ingress_ports_cell(const Json& object, std::int64_t) {
  return at(object, {"spec", "tls"}).empty() ? "80" : "80, 443";
}

Json ingress_class_cell(const Json& object, std::int64_t) {
  return or_none(cell_text(at(object, {"spec", "ingressClassName"})));
}

Json parameters_cell(const Json& object, std::int64_t) {
  const Json& parameters = at(object, {"spec", "parameters"});
  if (parameters.is_null()) return kNone;
  const std::string group = cell_text(member_in(parameters, "apiGroup"));
  return words({cell_text(member_in(parameters, "kind")), group.empty() ? "" : ".", group, "/",
                cell_text(member_in(parameters, "name"))});
}

// -- Pod

Json pod_ready_cell(const Json& object, std::int64_t) {
  const Json& statuses = at(object, {"status", "containerStatuses"});
  std::int64_t ready = 0;
  if (statuses.is_array())
    ready = std::ranges::count_if(statuses, [](const Json& one) { return member_in(one, "ready") == Json(true); });
  return words({std::to_string(ready), "/", std::to_string(at(object, {"spec", "containers"}).size())});
}

Json pod_status_cell(const Json& object, std::int64_t) {
  if (!at(object, {"metadata", "deletionTimestamp"}).is_null()) return "Terminating";
  const Json& statuses = at(object, {"status", "containerStatuses"});
  if (statuses.is_array()) {
    for (const Json& one : statuses) {
      for (const char* state : {"waiting", "terminated"}) {
        const std::string reason = cell_text(at(one, {"state", state, "reason"}));
        if (!reason.empty()) return reason;
      }
    }
  }
  const std::string reason = cell_text(at(object, {"status", "reason"}));
  return reason.empty() ? cell_text(at(object, {"status", "phase"})) : reason;
}

Json pod_restarts_cell(const Json& object, std::int64_t) {
  std::int64_t restarts = 0;
  const Json& statuses = at(object, {"status", "containerStatuses"});
  if (statuses.is_array()) {
    for (const Json& one : statuses) restarts += number_of(member_in(one, "restartCount"));
  }
  return std::to_string(restarts);
}

Json pod_ip_cell(const Json& object, std::int64_t) { return or_none(cell_text(at(object, {"status", "podIP"}))); }
Json pod_node_cell(const Json& object, std::int64_t) { return or_none(cell_text(at(object, {"spec", "nodeName"}))); }

// -- Node

Json node_status_cell(const Json& object, std::int64_t) {
  std::string status = "Unknown";
  const Json& conditions = at(object, {"status", "conditions"});
  if (conditions.is_array()) {
    for (const Json& one : conditions) {
      if (member_in(one, "type") == "Ready") status = member_in(one, "status") == "True" ? "Ready" : "NotReady";
    }
  }
  if (at(object, {"spec", "unschedulable"}) == Json(true)) status += ",SchedulingDisabled";
  return status;
}

Json node_roles_cell(const Json& object, std::int64_t) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::string roles;
  const Json& labels = at(object, {"metadata", "labels"});
  if (labels.is_object()) {
    for (const auto& [name, value] : labels.items()) {
      if (name.starts_with(kPrefix)) roles += (roles.empty() ? "" : ",") + name.substr(kPrefix.size());
    }
  }
  return or_none(roles);
}

std::string node_address(const Json& object, std::string_view type) {
  const Json& addresses = at(object, {"status", "addresses"});
  if (addresses.is_array()) {
    for (const Json& one : addresses) {
      if (cell_text(member_in(one, "type")) == type) return cell_text(member_in(one, "address"));
    }
  }
  return std::string(kNone);
}

Json node_internal_cell(const Json& object, std::int64_t) { return node_address(object, "InternalIP"); }
Json node_external_cell(const Json& object, std::int64_t) { return node_address(object, "ExternalIP"); }

// -- workloads

Json replicas_cell(const Json& object, std::int64_t) {
  const Json& wanted = at(object, {"spec", "replicas"});
  return words({std::to_string(number_of(at(object, {"status", "readyReplicas"}))), "/",
                std::to_string(wanted.is_null() ? 1 : number_of(wanted))});
}

template <typename... Names>
Json count_at(const Json& object, Names... names) {
  return number_of(at(object, {names...}));
}

Json updated_cell(const Json& object, std::int64_t) { return count_at(object, "status", "updatedReplicas"); }
Json available_cell(const Json& object, std::int64_t) { return count_at(object, "status", "availableReplicas"); }
Json wanted_cell(const Json& object, std::int64_t) { return count_at(object, "spec", "replicas"); }
Json current_cell(const Json& object, std::int64_t) { return count_at(object, "status", "replicas"); }
Json ready_cell(const Json& object, std::int64_t) { return count_at(object, "status", "readyReplicas"); }
Json daemon_wanted_cell(const Json& object, std::int64_t) {
  return count_at(object, "status", "desiredNumberScheduled");
}
Json daemon_current_cell(const Json& object, std::int64_t) {
  return count_at(object, "status", "currentNumberScheduled");
}
Json daemon_ready_cell(const Json& object, std::int64_t) { return count_at(object, "status", "numberReady"); }
Json daemon_updated_cell(const Json& object, std::int64_t) {
  return count_at(object, "status", "updatedNumberScheduled");
}
Json daemon_available_cell(const Json& object, std::int64_t) { return count_at(object, "status", "numberAvailable"); }
Json node_selector_cell(const Json& object, std::int64_t) {
  return selector_text(at(object, {"spec", "template", "spec", "nodeSelector"}));
}

Json containers_cell(const Json& object, std::int64_t) {
  return listed(at(object, {"spec", "template", "spec", "containers"}),
                [](const Json& one) { return cell_text(member_in(one, "name")); });
}
Json images_cell(const Json& object, std::int64_t) {
  return listed(at(object, {"spec", "template", "spec", "containers"}),
                [](const Json& one) { return cell_text(member_in(one, "image")); });
}
Json workload_selector_cell(const Json& object, std::int64_t) {
  return selector_text(at(object, {"spec", "selector", "matchLabels"}));
}

// -- Event

const Json& subject_of(const Json& event) {
  const Json& core = member_in(event, "involvedObject");
  return core.is_null() ? member_in(event, "regarding") : core;
}

/// Core events and those of events.k8s.io name the same things differently.
const Json& either(const Json& event, std::string_view core, std::string_view other) {
  const Json& value = member_in(event, core);
  return value.is_null() ? member_in(event, other) : value;
}

Json last_seen_cell(const Json& event, std::int64_t now) {
  for (const Json* time :
       {&at(event, {"series", "lastObservedTime"}), &either(event, "lastTimestamp", "deprecatedLastTimestamp"),
        &member_in(event, "eventTime")}) {
    if (time->is_string()) return age(*time, now);
  }
  return age_cell(event, now);
}

Json first_seen_cell(const Json& event, std::int64_t now) {
  const Json& first = either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  return first.is_string() ? age(first, now) : age(member_in(event, "eventTime"), now);
}

Json event_object_cell(const Json& event, std::int64_t) {
  std::string kind = cell_text(member_in(subject_of(event), "kind"));
  for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string name = cell_text(member_in(subject_of(event), "name"));
  return name.empty() ? kind : words({kind, "/", name});
}

Json subobject_cell(const Json& event, std::int64_t) { return cell_text(member_in(subject_of(event), "fieldPath")); }
Json event_message_cell(const Json& event, std::int64_t) { return cell_text(either(event, "message", "note")); }

Json event_source_cell(const Json& event, std::int64_t) {
  const Json& source = either(event, "source", "deprecatedSource");
  std::string text = cell_text(member_in(source, "component"));
  if (text.empty()) text = cell_text(either(event, "reportingComponent", "reportingController"));
  const std::string host = cell_text(member_in(source, "host"));
  return host.empty() ? text : words({text, ", ", host});
}

Json event_count_cell(const Json& event, std::int64_t) {
  const std::int64_t series = number_of(at(event, {"series", "count"}));
  const std::int64_t count = series != 0 ? series : number_of(either(event, "count", "deprecatedCount"));
  return count == 0 ? 1 : count;
}

Json name_cell(const Json& object, std::int64_t) { return cell_text(at(object, {"metadata", "name"})); }

// -- RBAC

Json role_cell(const Json& object, std::int64_t) {
  return words({cell_text(at(object, {"roleRef", "kind"})), "/", cell_text(at(object, {"roleRef", "name"}))});
}

using Cell = Json (*)(const Json&, std::int64_t);

Column computed(std::string name, Cell cell, std::int64_t priority = 0, std::string type = "string") {
  Column column;
  column.name = std::move(name);
  column.type = std::move(type);
  column.priority = priority;
  column.cell = cell;
  return column;
}

Column counted(std::string name, Cell cell) { return computed(std::move(name), cell, 0, "integer"); }

Column read(std::string name, std::string_view path, std::int64_t priority = 0) {
  Column column;
  column.name = std::move(name);
  column.priority = priority;
  std::string fault;
  column.path = JsonPath::parse(path, fault);
  return column;
}

Column event_name() {
  Column column = computed("Name", name_cell, 1);
  column.format = "name";
  return column;
}

/// By group and kind, `apps/Deployment`.
using ColumnTable = std::map<std::string, Columns, std::less<>>;

ColumnTable workload_columns() {
  const Column age_column = computed("Age", age_cell);
  const Column containers = computed("Containers", containers_cell, 1);
  const Column images = computed("Images", images_cell, 1);
  const Column selector = computed("Selector", workload_selector_cell, 1);
  return {
      {"apps/Deployment",
       {computed("Ready", replicas_cell), counted("Up-to-date", updated_cell), counted("Available", available_cell),
        age_column, containers, images, selector}},
      {"apps/DaemonSet",
       {counted("Desired", daemon_wanted_cell), counted("Current", daemon_current_cell),
        counted("Ready", daemon_ready_cell), counted("Up-to-date", daemon_updated_cell),
        counted("Available", daemon_available_cell), computed("Node Selector", node_selector_cell), age_column,
        containers, images, selector}},
      {"apps/ReplicaSet",
       {counted("Desired", wanted_cell), counted("Current", current_cell), counted("Ready", ready_cell), age_column,
        containers, images, selector}},
  };
}

ColumnTable all_columns() {
  const Column age_column = computed("Age", age_cell);
  const Column created = computed("Created At", created_cell);
  const Columns event = {computed("Last Seen", last_seen_cell),
                         read("Type", ".type"),
                         read("Reason", ".reason"),
                         computed("Object", event_object_cell),
                         computed("Subobject", subobject_cell, 1),
                         computed("Source", event_source_cell, 1),
                         computed("Message", event_message_cell),
                         computed("First Seen", first_seen_cell, 1),
                         computed("Count", event_count_cell, 1),
                         event_name()};
  const Columns binding = {computed("Role", role_cell), age_column};
  ColumnTable table = {
      {"/Service",
       {read("Type", ".spec.type"), read("Cluster-IP", ".spec.clusterIP"), computed("External-IP", external_ip_cell),
        computed("Port(s)", service_ports_cell), age_column, computed("Selector", service_selector_cell, 1)}},
      {"/Secret", {read("Type", ".type"), counted("Data", data_cell), age_column}},
      {"/ConfigMap", {counted("Data", data_cell), age_column}},
      {"/Namespace", {read("Status", ".status.phase"), age_column}},
      {"/Endpoints", {computed("Endpoints", endpoints_cell), age_column}},
      {"/Event", event},
      {"events.k8s.io/Event", event},
      {"/Pod",
       {computed("Ready", pod_ready_cell), computed("Status", pod_status_cell), computed("Restarts", pod_restarts_cell),
        age_column, computed("IP", pod_ip_cell, 1), computed("Node", pod_node_cell, 1)}},
      {"/Node",
       {computed("Status", node_status_cell), computed("Roles", node_roles_cell), age_column,
        read("Version", ".status.nodeInfo.kubeletVersion"), computed("Internal-IP", node_internal_cell, 1),
        computed("External-IP", node_external_cell, 1), read("OS-Image", ".status.nodeInfo.osImage", 1),
        read("Kernel-Version", ".status.nodeInfo.kernelVersion", 1),
        read("Container-Runtime", ".status.nodeInfo.containerRuntimeVersion", 1)}},
      {"discovery.k8s.io/EndpointSlice",
       {read("AddressType", ".addressType"), computed("Ports", slice_ports_cell),
        computed("Endpoints", slice_endpoints_cell), age_column}},
      {"coordination.k8s.io/Lease", {read("Holder", ".spec.holderIdentity"), age_column}},
      {"networking.k8s.io/Ingress",
       {computed("Class", ingress_class_cell), computed("Hosts", ingress_hosts_cell),
        computed("Address", ingress_address_cell), computed("Ports", ingress_ports_cell), age_column}},
      {"networking.k8s.io/IngressClass",
       {read("Controller", ".spec.controller"), computed("Parameters", parameters_cell), age_column}},
      {"rbac.authorization.k8s.io/Role", {created}},
      {"rbac.authorization.k8s.io/ClusterRole", {created}},
      {"rbac.authorization.k8s.io/RoleBinding", binding},
      {"rbac.authorization.k8s.io/ClusterRoleBinding", binding},
      {"apiextensions.k8s.io/CustomResourceDefinition", {created}},
  };
  table.merge(workload_columns());
  return table;
}

}  // namespace

const Columns& built_in_columns(std::string_view group, std::string_view kind) {
  static const auto kColumns = all_columns();
  static const Columns kDefault = default_columns();
  const auto found = kColumns.find(words({group, "/", kind}));
  return found == kColumns.end() ? kDefault : found->second;
}

}  // namespace edge::resource_api::objects
