#include "edgectl/resources/agents.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/text/times.h"
#include "base/units.h"
#include "controller/resource_api/objects/table.h"
#include "edgectl/resources/client_config.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/target.h"

namespace edge::edgectl {
namespace {

using controller::AgentState;
using controller::WallTime;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kShortHash = 12;
/// Of another cluster's gateway the zone stands for the cluster's region.
bool has_zones(const controller::EndpointHealth& endpoint) {
  return !endpoint.zones.empty() && endpoint.cluster.empty();
}

std::string zones_text(const controller::EndpointHealth& endpoint) {
  std::string text;
  if (!has_zones(endpoint)) return text;
  for (const std::string& zone : endpoint.zones) text += (text.empty() ? "" : ", ") + zone;
  return text;
}

std::string age(WallTime then, WallTime now) {
  if (then == WallTime{}) return "<never>";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - then).count();
  return resource_api::objects::age_text(std::max<std::int64_t>(seconds, 0));
}

/// Empty: never.
std::string time_text(WallTime time) {
  return time == WallTime{} ? std::string() : rfc3339(std::chrono::system_clock::to_time_t(time));
}

std::string or_none(const std::string& text) { return text.empty() ? "<none>" : text; }
std::string short_hash(const std::string& hash) { return or_none(hash.substr(0, kShortHash)); }

/// The kubeconfig that commands take when nothing else is said.
std::string default_kubeconfig() {
  const char* named = std::getenv("KUBECONFIG");
  if (named != nullptr && *named != '\0') return std::string(named).substr(0, std::string_view(named).find(':'));
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string() : std::string(home) + "/.kube/config";
}

std::size_t healthy_of(const controller::BackendHealth& backend) {
  std::size_t healthy = 0;
  for (const auto& endpoint : backend.endpoints) healthy += endpoint.healthy ? 1 : 0;
  return healthy;
}

OrderedJson json_of(const controller::UnboundListener& one) {
  return {{"namespace", one.name_space},
          {"gateway", one.gateway},
          {"listener", one.listener},
          {"address", one.address},
          {"reason", one.reason}};
}

OrderedJson json_of(const controller::BackendHealth& backend) {
  OrderedJson endpoints = OrderedJson::array();
  for (const auto& endpoint : backend.endpoints) {
    endpoints.push_back({{"address", endpoint.address},
                         {"healthy", endpoint.healthy},
                         {"lastCheck", time_text(endpoint.last_check)},
                         {"lastError", endpoint.last_error}});
    if (has_zones(endpoint)) endpoints.back()["zones"] = endpoint.zones;
    if (!endpoint.cluster.empty()) {
      endpoints.back()["cluster"] = endpoint.cluster;
      if (endpoint.cluster_priority != 0) endpoints.back()["priority"] = endpoint.cluster_priority;
      if (!endpoint.cluster_region.empty()) endpoints.back()["region"] = endpoint.cluster_region;
    }
    if (!endpoint.zones.empty() || !endpoint.cluster.empty()) endpoints.back()["reserve"] = endpoint.reserve;
  }
  return {{"namespace", backend.name_space},
          {"name", backend.name},
          {"circuit", backend.circuit},
          {"connections", backend.connections},
          {"endpoints", std::move(endpoints)}};
}

OrderedJson json_of(const controller::VipState& vip) {
  OrderedJson sessions = OrderedJson::array();
  for (const auto& session : vip.sessions) {
    sessions.push_back({{"peer", session.peer},
                        {"as", session.peer_as},
                        {"state", session.state},
                        {"since", time_text(controller::WallTime(std::chrono::milliseconds(session.since_ms)))},
                        {"lastError", session.last_error},
                        {"bfd", session.bfd},
                        {"announced", session.announced}});
  }
  return {{"namespace", vip.name_space},
          {"name", vip.name},
          {"address", vip.address},
          {"held", vip.held},
          {"epoch", vip.epoch},
          {"interface", vip.interface},
          {"unfit", vip.unfit},
          {"reason", vip.reason},
          {"cause", vip.cause},
          {"from", vip.from},
          {"conflicts", vip.conflicts},
          {"gracefulShutdown", vip.graceful_shutdown},
          {"sessions", std::move(sessions)}};
}

OrderedJson json_of(const AgentState& agent) {
  OrderedJson json = {{"name", agent.name},
                      {"node", agent.node},
                      {"version", agent.version},
                      {"cpu", agent.cpu},
                      {"group", agent.group},
                      {"labels", agent.labels.empty() ? OrderedJson::object() : OrderedJson(agent.labels)},
                      {"connected", agent.connected},
                      {"since", time_text(agent.since)},
                      {"lastSeen", time_text(agent.last_seen)},
                      {"program", agent.program},
                      {"published", agent.published},
                      {"valuesCurrent", agent.values_current},
                      {"connections", agent.connections},
                      {"requests", agent.requests},
                      {"certificateUntil", time_text(agent.certificate_until)}};
  if (!agent.refused.program.empty()) {
    json["refused"] = {
        {"program", agent.refused.program}, {"reason", agent.refused.reason}, {"at", time_text(agent.refused.at)}};
  }
  for (const auto& one : agent.unbound) json["unboundListeners"].push_back(json_of(one));
  json["backends"] = OrderedJson::array();
  for (const auto& backend : agent.backends) json["backends"].push_back(json_of(backend));
  json["vips"] = OrderedJson::array();
  for (const auto& vip : agent.vips) json["vips"].push_back(json_of(vip));
  return json;
}

Result<std::unique_ptr<controller::InspectClient>> open(const cli::Arguments& arguments,
                                                        std::optional<std::chrono::milliseconds> most) {
  const auto config = ClientConfig::read(client_config_path());
  if (!config) return config.error();
  const auto target = target_of(arguments, *config);
  if (!target) return target.error();
  const auto timeout = parse_duration(most ? std::string("30s") : arguments.one("request-timeout"));
  if (!timeout || timeout->count() <= 0) {
    return Error{ErrorCode::kInvalidArgument, "`--request-timeout` takes a duration such as `30s`"};
  }
  controller::InspectOptions options{.controller = target->controller, .credentials_file = target->credentials};
  options.timeout = most ? *most : std::chrono::duration_cast<std::chrono::milliseconds>(*timeout);
  if (options.credentials_file.empty()) {
    const std::string kubeconfig = target->kubeconfig.empty() ? default_kubeconfig() : target->kubeconfig;
    options.credentials_file = (std::filesystem::path(kubeconfig).parent_path() / "agents/admin.pem").string();
  }
  auto client = controller::InspectClient::open(options);
  if (client) return client;
  if (target->credentials.empty() && client.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kUnavailable, "there is no administrator's file " + options.credentials_file +
                                              "; name it by --credentials (agents/admin.pem in the controller's data "
                                              "directory)"};
  }
  return Error{ErrorCode::kUnavailable, client.error().text};
}

}  // namespace

std::vector<cli::Flag> controller_flags() {
  return {
      {.name = "controller",
       .value = "HOST:PORT",
       .help = "gRPC address of the controller (default: the context's, else the one in the credentials file)"},
      {.name = "credentials",
       .value = "FILE",
       .help =
           "Administrator's credentials file (default: the context's, else agents/admin.pem next to the kubeconfig)"}};
}

std::unique_ptr<controller::InspectClient> open_controller(std::string_view command, const cli::Arguments& arguments,
                                                           int& exit) {
  auto client = open(arguments, std::nullopt);
  if (client) return std::move(*client);
  exit = client.error().code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitUnreachable;
  cli::print_error(command, client.error().text);
  return nullptr;
}

Result<std::unique_ptr<controller::InspectClient>> find_controller(const cli::Arguments& arguments) {
  return open(arguments, std::nullopt);
}

std::unique_ptr<controller::InspectClient> quiet_controller(const cli::Arguments& arguments,
                                                            std::chrono::milliseconds most) {
  auto client = open(arguments, most);
  return client ? std::move(*client) : nullptr;
}

int tell(std::string_view command, const Error& error) {
  cli::print_error(command, error.text);
  const bool asked = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kFailedPrecondition ||
                     error.code == ErrorCode::kInvalidArgument;
  return asked ? cli::kExitFindings : cli::kExitUnreachable;
}

std::string agents_table(const controller::InspectClient::Agents& agents, bool wide, WallTime now) {
  std::vector<std::string> heads = {"NAME", "NODE", "GROUP", "STATUS", "PROGRAM", "VERSION", "SINCE"};
  if (wide) heads.insert(heads.end(), {"CPU", "CONNECTIONS", "REQUESTS", "VALUES", "SEEN", "LABELS", "REFUSED"});
  TextTable table(std::move(heads));
  for (const AgentState& agent : agents.agents) {
    // An older controller has one program for all.
    const bool current = agent.program == (agent.published.empty() ? agents.published : agent.published);
    const std::string status = !agent.connected                 ? "Lost"
                               : !agent.refused.program.empty() ? "Refused"
                               : current                        ? "Current"
                                                                : "Behind";
    std::vector<std::string> cells = {
        agent.name, agent.node, agent.group, status, short_hash(agent.program), agent.version, age(agent.since, now)};
    if (wide) {
      cells.insert(cells.end(), {agent.cpu, std::to_string(agent.connections), std::to_string(agent.requests),
                                 agent.values_current ? "Current" : "Behind", age(agent.last_seen, now),
                                 or_none(labels_text(agent.labels)), or_none(agent.refused.reason)});
    }
    table.add(std::move(cells));
  }
  return table.take(/*with_heads=*/true);
}

std::string agents_json(const controller::InspectClient::Agents& agents) {
  OrderedJson json = {{"published", agents.published}, {"version", agents.version}, {"agents", OrderedJson::array()}};
  for (const AgentState& agent : agents.agents) json["agents"].push_back(json_of(agent));
  return indented_json(json);
}

std::string agent_json(const AgentState& agent) { return indented_json(json_of(agent)); }

std::string describe_agent(const AgentState& agent, WallTime now) {
  std::string out;
  const auto line = [&out](std::string name, const std::string& value) {
    name.resize(15, ' ');
    out += name + shown(or_none(value)) + "\n";
  };
  line("Name:", agent.name);
  line("Node:", agent.node);
  line("Version:", agent.version);
  line("CPU:", agent.cpu);
  line("Group:", agent.group);
  line("Labels:", labels_text(agent.labels));
  line("Connected:", std::string(agent.connected ? "yes" : "no") + ", for " + age(agent.since, now));
  line("Last seen:", age(agent.last_seen, now) + " ago");
  line("Program:", agent.program);
  if (!agent.published.empty() && agent.published != agent.program) line("Published:", agent.published);
  line("Values:", agent.values_current ? "current" : "behind");
  if (!agent.refused.program.empty()) {
    line("Refused:", agent.refused.program + ": " + agent.refused.reason + " (" + age(agent.refused.at, now) + " ago)");
  }
  for (const auto& one : agent.unbound) {
    line("Not bound:", one.name_space + "/" + one.gateway + "/" + one.listener + ": " + one.reason);
  }
  line("Connections:", std::to_string(agent.connections));
  line("Requests:", std::to_string(agent.requests));
  line("Certificate:", "until " + or_none(time_text(agent.certificate_until)));
  out += agent.backends.empty() ? "Backends: <none>\n" : "Backends:\n" + backends_table(agent, /*wide=*/false, now);
  return out + (agent.vips.empty() ? "VIPs: <none>\n" : "VIPs:\n" + vips_table(agent));
}

std::string backends_table(const AgentState& agent, bool wide, WallTime now) {
  const auto any = [&agent](const auto& has) {
    return std::ranges::any_of(agent.backends, [&has](const controller::BackendHealth& backend) {
      return std::ranges::any_of(backend.endpoints, has);
    });
  };
  const bool zones = wide || any(has_zones);
  const bool clusters = wide || any([](const auto& endpoint) { return !endpoint.cluster.empty(); });
  // Where an endpoint is: between its address and its state.
  const auto where = [&](const controller::EndpointHealth& of) {
    std::vector<std::string> cells;
    if (zones) cells.push_back(zones_text(of));
    if (clusters) cells.push_back(of.cluster);
    if (wide) cells.push_back(of.cluster_priority == 0 ? std::string() : std::to_string(of.cluster_priority));
    if (wide) cells.push_back(of.cluster_region);
    return cells;
  };
  std::vector<std::string> heads = {"NAMESPACE", "NAME", "CIRCUIT", "HEALTHY", "CONNECTIONS", "ENDPOINT"};
  if (zones) heads.emplace_back("ZONE");
  if (clusters) heads.emplace_back("CLUSTER");
  if (wide) heads.insert(heads.end(), {"PRIORITY", "REGION"});
  heads.insert(heads.end(), {"STATE", "CHECKED", "ERROR"});
  TextTable table(std::move(heads));
  for (const auto& backend : agent.backends) {
    const std::vector<std::string> head = {
        backend.name_space, backend.name, backend.circuit,
        std::to_string(healthy_of(backend)) + "/" + std::to_string(backend.endpoints.size()),
        std::to_string(backend.connections)};
    const auto add = [&](const std::string& address, const controller::EndpointHealth& of, const char* state,
                         const std::string& checked, const std::string& error) {
      std::vector<std::string> cells = head;
      cells.push_back(address);
      for (std::string& cell : where(of)) cells.push_back(std::move(cell));
      cells.insert(cells.end(), {state, checked, error});
      table.add(std::move(cells));
    };
    if (backend.endpoints.empty() && backend.names.empty()) table.add(head);
    for (const auto& name : backend.names) {
      if (name.error.empty() && !backend.endpoints.empty()) continue;
      add(name.name, {}, name.error.empty() ? "resolved" : "unresolved", "", name.error);
    }
    for (const auto& endpoint : backend.endpoints) {
      const char* const state = !endpoint.healthy ? "unhealthy" : endpoint.reserve ? "reserve" : "healthy";
      add(endpoint.address, endpoint, state, age(endpoint.last_check, now), endpoint.last_error);
    }
  }
  return table.take(/*with_heads=*/true);
}

Result<std::vector<controller::BackendHealth>> backends_of_page(const std::string& page) {
  const nlohmann::json json = parse_json(page);
  if (!member_in(json, "backends").is_array())
    return Error{ErrorCode::kUnavailable, "the answer of the agent is no list"};
  std::vector<controller::BackendHealth> backends;
  for (const nlohmann::json& one : list_in(json, "backends")) {
    controller::BackendHealth& backend = backends.emplace_back();
    backend.name_space = text_in(one, "namespace");
    backend.name = text_in(one, "name");
    backend.circuit = text_in(member_in(one, "circuit"), "state");
    const nlohmann::json& connections = member_in(one, "connections");
    if (connections.is_number_unsigned()) backend.connections = connections.get<std::uint32_t>();
    for (const nlohmann::json& of : list_in(one, "names")) {
      const nlohmann::json& addresses = member_in(of, "addresses");
      const bool counted = addresses.is_number_unsigned();
      backend.names.push_back(
          {text_in(of, "name"), counted ? addresses.get<std::uint32_t>() : 0, text_in(of, "error")});
    }
    for (const nlohmann::json& of : list_in(one, "endpoints")) {
      controller::EndpointHealth& endpoint = backend.endpoints.emplace_back();
      endpoint.address = text_in(of, "address");
      endpoint.healthy = member_in(of, "healthy") == true;
      endpoint.last_error = text_in(of, "lastError");
      endpoint.reserve = member_in(of, "reserve") == true;
      endpoint.cluster = text_in(of, "cluster");
      const nlohmann::json& priority = member_in(of, "priority");
      if (priority.is_number_unsigned()) endpoint.cluster_priority = priority.get<std::uint32_t>();
      endpoint.cluster_region = text_in(of, "region");
      for (const nlohmann::json& zone : list_in(of, "zones")) {
        if (zone.is_string()) endpoint.zones.push_back(zone.get<std::string>());
      }
      const auto checked = parse_timestamp(text_in(of, "lastCheck"));
      if (checked) endpoint.last_check = WallTime(std::chrono::seconds(*checked));
    }
  }
  std::ranges::sort(backends, {}, [](const controller::BackendHealth& b) { return std::tie(b.name_space, b.name); });
  return backends;
}

Result<std::vector<controller::VipState>> vips_of_page(const std::string& page) {
  const nlohmann::json json = parse_json(page);
  if (!member_in(json, "vips").is_array()) return Error{ErrorCode::kUnavailable, "the answer of the agent is no list"};
  const auto number = [](const nlohmann::json& of) { return of.is_number_unsigned() ? of.get<std::uint64_t>() : 0; };
  std::vector<controller::VipState> vips;
  for (const nlohmann::json& one : list_in(json, "vips")) {
    const nlohmann::json& last_move = member_in(one, "lastMove");
    vips.push_back({.name_space = text_in(one, "namespace"),
                    .name = text_in(one, "name"),
                    .address = text_in(one, "address"),
                    .held = member_in(one, "held") == true,
                    .epoch = number(member_in(one, "epoch")),
                    .unfit = text_in(one, "unfit"),
                    .reason = text_in(one, "reason"),
                    .interface = text_in(one, "interface"),
                    .cause = text_in(last_move, "cause"),
                    .from = text_in(last_move, "from"),
                    .conflicts = number(member_in(one, "conflicts")),
                    .graceful_shutdown = member_in(one, "gracefulShutdown") == true});
    for (const nlohmann::json& session : list_in(one, "sessions")) {
      vips.back().sessions.push_back({.peer = text_in(session, "peer"),
                                      .peer_as = static_cast<std::uint32_t>(number(member_in(session, "as"))),
                                      .state = text_in(session, "state"),
                                      .since_ms = static_cast<std::int64_t>(number(member_in(session, "sinceMs"))),
                                      .last_error = text_in(session, "lastError"),
                                      .bfd = text_in(session, "bfd"),
                                      .announced = number(member_in(session, "announced"))});
    }
  }
  return vips;
}

namespace {

/// Empty where no address is announced by BGP. A node has one session with a peer, whichever addresses name it.
std::string sessions_table(const AgentState& agent) {
  std::map<std::string, const controller::BgpSessionState*> sessions;
  for (const auto& vip : agent.vips) {
    for (const auto& session : vip.sessions) sessions.try_emplace(session.peer, &session);
  }
  if (sessions.empty()) return {};
  TextTable table({"PEER", "AS", "SESSION", "SINCE", "BFD", "ANNOUNCED", "LAST ERROR"});
  for (const auto& [peer, session] : sessions) {
    const controller::WallTime since{std::chrono::milliseconds(session->since_ms)};
    table.add({peer, std::to_string(session->peer_as), session->state,
               session->since_ms == 0 ? or_none("") : time_text(since), or_none(session->bfd),
               std::to_string(session->announced), or_none(session->last_error)});
  }
  return table.take(/*with_heads=*/true);
}

}  // namespace

std::string vips_table(const AgentState& agent) {
  TextTable table({"NAMESPACE", "NAME", "ADDRESS", "HELD", "EPOCH", "INTERFACE", "CAUSE", "REASON"});
  for (const auto& vip : agent.vips) {
    table.add({vip.name_space, vip.name, vip.address, vip.held ? "yes" : "no", std::to_string(vip.epoch),
               or_none(vip.interface), or_none(vip.cause), or_none(vip.reason)});
  }
  return table.take(/*with_heads=*/true) + sessions_table(agent);
}

std::string history_table(const std::vector<controller::HistoryEntry>& history, bool wide, WallTime now) {
  TextTable table(wide ? std::vector<std::string>{"PROGRAM", "AGE", "STATE", "BY", "CAUSE", "RESOURCES"}
                       : std::vector<std::string>{"PROGRAM", "AGE", "STATE", "BY", "CAUSE"});
  for (const auto& entry : history) {
    const std::string state = entry.pinned ? "pinned" : entry.serving ? "serving" : "";
    std::string resources;
    for (const std::string& resource : entry.resources) resources += (resources.empty() ? "" : ", ") + resource;
    table.add({wide ? entry.program : short_hash(entry.program), age(entry.at, now), state, or_none(entry.user),
               entry.cause, resources});
  }
  return table.take(/*with_heads=*/true);
}

std::string history_json(const std::vector<controller::HistoryEntry>& history) {
  OrderedJson list = OrderedJson::array();
  for (const auto& entry : history) {
    list.push_back({{"program", entry.program},
                    {"at", time_text(entry.at)},
                    {"cause", entry.cause},
                    {"resources", entry.resources},
                    {"user", entry.user},
                    {"serving", entry.serving},
                    {"pinned", entry.pinned}});
  }
  return indented_json(list);
}

}  // namespace edge::edgectl
