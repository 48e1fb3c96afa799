#include "edgectl/reports/status_report.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/distribute/unbound_listeners.h"
#include "edgectl/agents/page_lines.h"
#include "edgectl/install/version.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "schemas/schema.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kError = "error";
constexpr std::size_t kShortHash = 12;
/// Of one agent.
constexpr std::size_t kMostTroubles = 20;

class Report {
 public:
  explicit Report(const cli::Arguments& arguments) : arguments_(arguments) {}

  OrderedJson make() {
    out_ = {{"health", ""}, {"problems", OrderedJson::array()}, {"client", {{"version", EDGE_VERSION}}}};
    read_cluster();
    read_controller();
    out_["health"] = nothing_reached(out_) ? "Unreachable" : out_["problems"].empty() ? "Healthy" : "Degraded";
    return std::move(out_);
  }

 private:
  void problem(const std::string& text) { out_["problems"].push_back(text); }

  void no_cluster(const std::string& why) {
    out_["orchestrator"] = {{kError, why}};
    for (const char* part : {"operator", "webUI"}) out_[part] = {{kError, "the resource API cannot be asked"}};
    out_["clusters"] = OrderedJson::array();
    out_["resources"] = OrderedJson::array();
    problem("resource API: " + why);
  }

  void read_cluster() {
    auto cluster = Cluster::open(arguments_);
    if (!cluster) return no_cluster(cluster.error().text);
    cluster_ = std::move(*cluster);
    const kube::Reply version = cluster_->api().send({.target = "/version"});
    if (!version.ok()) return no_cluster(version.failure.text());
    out_["orchestrator"] = {{"version", text_in(parse_json(version.body), "gitVersion")}};
    out_["operator"] = deployed("operator");
    out_["clusters"] = OrderedJson::array();
    out_["webUI"] = deployed("web");
    out_["resources"] = OrderedJson::array();
    for (const schemas::Kind& kind : schemas::kinds()) {
      if (kind.own) count(kind);
    }
  }

  /// What runs a part, by the labels that the operator gives it.
  OrderedJson deployed(const std::string& part) {
    const auto found = cluster_->find("deployments");
    if (!found.failure.none()) return {{kError, found.failure.text()}};
    if (!found.type) return {{"installed", false}};
    kube::ListOptions options;
    options.label_selector = "app.kubernetes.io/part-of=edge,app.kubernetes.io/component=" + part;
    const auto list = cluster_->api().list_all(found.type->resource, options);
    if (!list.ok()) return {{kError, list.failure.text()}};
    if (list.list.items.empty()) return {{"installed", false}};
    const nlohmann::json object = parse_json(list.list.items.front().text);
    const nlohmann::json& spec = member_in(object, "spec");
    const std::int64_t ready = integer_in(member_in(object, "status"), "readyReplicas");
    const std::int64_t wanted = integer_in(spec, "replicas");
    const nlohmann::json& containers = list_in(member_in(member_in(spec, "template"), "spec"), "containers");
    const std::string image = containers.empty() ? std::string() : text_in(containers.front(), "image");
    if (ready < wanted) problem(part + ": " + std::to_string(ready) + " of " + std::to_string(wanted) + " are ready");
    return {{"installed", true},
            {"namespace", text_in(member_in(object, "metadata"), "namespace")},
            {"version", read_image(image).tag},
            {"image", image},
            {"ready", ready},
            {"replicas", wanted}};
  }

  static bool at_fault(const nlohmann::json& object) {
    return std::ranges::any_of(list_in(member_in(object, "status"), "conditions"), [](const nlohmann::json& condition) {
      if (text_in(condition, "status") != "False") return false;
      const std::string& type = text_in(condition, "type");
      return type == "Ready" || type == "Programmed" || type == "Accepted" || type == "ResolvedRefs";
    });
  }

  void count(const schemas::Kind& kind) {
    const kube::Resource resource = resource_of(kind);
    const auto list = cluster_->api().list_all(resource, {});
    if (list.failure.not_found()) return;
    if (!list.ok()) {
      out_["resources"].push_back({{"kind", std::string(kind.kind)}, {kError, list.failure.text()}});
      problem(resource.plural + ": " + list.failure.text());
      return;
    }
    std::int64_t faults = 0;
    for (const kube::Object& item : list.list.items) {
      const nlohmann::json object = parse_json(item.text);
      faults += at_fault(object) ? 1 : 0;
      if (kind.kind == "EdgeCluster") add_installation(object);
    }
    out_["resources"].push_back(
        {{"kind", std::string(kind.kind)}, {"count", list.list.items.size()}, {"atFault", faults}});
    if (faults > 0) problem(std::to_string(faults) + " " + resource.plural + " at fault");
  }

  void add_installation(const nlohmann::json& object) {
    const nlohmann::json& metadata = member_in(object, "metadata");
    const nlohmann::json& status = member_in(object, "status");
    const std::string& name = text_in(metadata, "name");
    const std::string& phase = text_in(status, "phase");
    std::string message;
    for (const nlohmann::json& condition : list_in(status, "conditions")) {
      if (text_in(condition, "type") == "Ready") message = text_in(condition, "message");
    }
    out_["clusters"].push_back({{"namespace", text_in(metadata, "namespace")},
                                {"name", name},
                                {"version", text_in(status, "version")},
                                {"wantedVersion", text_in(member_in(object, "spec"), "version")},
                                {"phase", phase},
                                {"message", message},
                                {"controller", text_in(member_in(status, "controller"), "summary")},
                                {"agents", text_in(member_in(status, "agents"), "summary")}});
    if (phase == "Degraded" || phase == "Failed") {
      problem("EdgeCluster " + name + " is " + phase + (message.empty() ? "" : ": " + message));
    }
  }

  void no_controller(const std::string& why) {
    out_["controller"] = {{kError, why}};
    out_["agents"] = OrderedJson::array();
    problem("controller: " + why);
  }

  void read_controller() {
    auto client = find_controller(arguments_);
    if (!client) return no_controller(client.error().text);
    const auto agents = (*client)->agents();
    if (!agents) return no_controller(agents.error().text);
    out_["controller"] = {{"version", agents->version}, {"program", agents->published}};
    out_["agents"] = OrderedJson::array();
    if (agents->agents.empty()) problem("no agent has connected");
    for (const controller::AgentState& agent : agents->agents) add_agent(**client, agent, agents->published);
    for (const controller::UnboundListener& one : controller::unbound_of_all(agents->agents)) {
      problem("listener " + one.name_space + "/" + one.gateway + "/" + one.listener + ": " + one.reason);
    }
  }

  void add_agent(controller::InspectClient& client, const controller::AgentState& agent, const std::string& published) {
    const std::string state = !agent.connected                 ? "Lost"
                              : !agent.refused.program.empty() ? "Refused"
                              : agent.program == published     ? "Current"
                                                               : "Behind";
    OrderedJson json = {{"name", agent.name},
                        {"node", agent.node},
                        {"status", state},
                        {"version", agent.version},
                        {"program", agent.program},
                        {"vips", OrderedJson::array()},
                        {"connections", agent.connections},
                        {"unhealthyEndpoints", 0}};
    if (state != "Current") problem("agent " + agent.name + ": " + state);
    if (const auto whole = client.agent(agent.name)) {
      for (const auto& vip : whole->vips) {
        if (vip.held) json["vips"].push_back(vip.address);
      }
      std::int64_t unhealthy = 0;
      for (const auto& backend : whole->backends) {
        unhealthy += std::ranges::count(backend.endpoints, false, &controller::EndpointHealth::healthy);
      }
      json["unhealthyEndpoints"] = unhealthy;
      if (agent.connected && !add_troubles(client, agent) && unhealthy > 0) {
        problem("agent " + agent.name + ": " + std::to_string(unhealthy) + " endpoints are unhealthy");
      }
    }
    out_["agents"].push_back(std::move(json));
  }

  /// What the agent finds amiss. \returns whether it says; an older one does not.
  bool add_troubles(controller::InspectClient& client, const controller::AgentState& agent) {
    const auto answer = client.ask(agent.name, {.target = "/debug/troubles"});
    if (!answer || answer->status != 200) return false;
    const nlohmann::json page = parse_json(answer->body);
    if (!member_in(page, "troubles").is_array()) return false;
    std::int64_t more = integer_in(page, "more");
    std::size_t reported = 0;
    for (const nlohmann::json& one : list_in(page, "troubles")) {
      // Of listeners the controller says who else reaches them.
      if (text_in(one, "subject").starts_with("listener ")) continue;
      if (reported++ < kMostTroubles) {
        problem("agent " + agent.name + ": " + text_in(one, "text") + " (since " + text_in(one, "since") + ")");
      } else {
        ++more;
      }
    }
    if (more > 0) problem("agent " + agent.name + ": " + std::to_string(more) + " more");
    return true;
  }

  const cli::Arguments& arguments_;
  OrderedJson out_;
  std::unique_ptr<Cluster> cluster_;
};

std::string shown_at(const OrderedJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  return shown(found->is_string() ? found->get<std::string>() : found->dump());
}

std::string or_none(const std::string& text) { return text.empty() ? "<none>" : text; }

/// `cannot be reached: why`, or what `text` says.
std::string part_text(const OrderedJson& part, const std::string& text) {
  return part.contains(kError) ? "unknown: " + shown_at(part, kError) : text;
}

std::string deployed_text(const OrderedJson& part) {
  if (!part.value("installed", false)) return "not installed";
  const std::string version = shown_at(part, "version");
  return (version.empty() ? "unknown version" : version) + ", " + shown_at(part, "ready") + "/" +
         shown_at(part, "replicas") + " ready, " + or_none(shown_at(part, "image"));
}

/// `edge-system/main Upgrading, version 0.1.0, to be 0.2.0, controller 1/1, agents 2/3`
std::string installation_text(const OrderedJson& cluster) {
  const std::string version = shown_at(cluster, "version");
  const std::string wanted = shown_at(cluster, "wantedVersion");
  std::string text = shown_at(cluster, "namespace") + "/" + shown_at(cluster, "name") + " " +
                     or_none(shown_at(cluster, "phase")) + ", version " + or_none(version);
  if (wanted != version) text += ", to be " + or_none(wanted);
  for (const char* part : {"controller", "agents"}) {
    if (const std::string ready = shown_at(cluster, part); !ready.empty()) {
      text += std::string(", ") + part + " " + ready;
    }
  }
  return text;
}

void add_agents(const OrderedJson& agents, std::string& out) {
  if (agents.empty()) return;
  TextTable table({"AGENT", "NODE", "STATUS", "VERSION", "PROGRAM", "VIPS", "CONNECTIONS", "UNHEALTHY"});
  for (const OrderedJson& agent : agents) {
    std::string vips;
    for (const OrderedJson& vip : agent["vips"]) vips += (vips.empty() ? "" : ",") + vip.get<std::string>();
    table.add({shown_at(agent, "name"), shown_at(agent, "node"), shown_at(agent, "status"), shown_at(agent, "version"),
               or_none(shown_at(agent, "program").substr(0, kShortHash)), or_none(vips), shown_at(agent, "connections"),
               shown_at(agent, "unhealthyEndpoints")});
  }
  out += "\n" + table.take(/*with_heads=*/true);
}

void add_resources(const OrderedJson& resources, std::string& out) {
  if (resources.empty()) return;
  TextTable table({"RESOURCE", "COUNT", "AT FAULT"});
  for (const OrderedJson& one : resources) {
    const bool known = !one.contains(kError);
    table.add(
        {shown_at(one, "kind"), known ? shown_at(one, "count") : "unknown", known ? shown_at(one, "atFault") : "-"});
  }
  out += "\n" + table.take(/*with_heads=*/true);
}

}  // namespace

OrderedJson status_report(const cli::Arguments& arguments) { return Report(arguments).make(); }

bool nothing_reached(const OrderedJson& report) {
  return report["orchestrator"].contains(kError) && report["controller"].contains(kError);
}

std::string status_text(const OrderedJson& report) {
  std::string out;
  const auto line = [&out](std::string name, const std::string& value) {
    name.resize(14, ' ');
    out += name + value + "\n";
  };
  line("Health:", shown_at(report, "health"));
  for (const OrderedJson& problem : report["problems"]) out += "  - " + shown(problem.get<std::string>()) + "\n";
  line("Client:", shown_at(report["client"], "version"));
  line("Orchestrator:", part_text(report["orchestrator"], or_none(shown_at(report["orchestrator"], "version"))));
  line("Operator:", part_text(report["operator"], deployed_text(report["operator"])));
  if (report["clusters"].empty()) line("Cluster:", "<none>");
  for (const OrderedJson& cluster : report["clusters"]) {
    line("Cluster:", installation_text(cluster));
  }
  const OrderedJson& controller = report["controller"];
  line("Controller:", part_text(controller, shown_at(controller, "version") + ", program " +
                                                or_none(shown_at(controller, "program").substr(0, kShortHash))));
  line("Web UI:", part_text(report["webUI"], deployed_text(report["webUI"])));
  add_agents(report["agents"], out);
  add_resources(report["resources"], out);
  return out;
}

}  // namespace edge::edgectl
