#include "controller/status/status_document.h"

#include <algorithm>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"
#include "base/text/times.h"
#include "controller/distribute/unbound_listeners.h"
#include "controller/rights/statuses.h"
#include "controller/status/condition_json.h"
#include "controller/status/remote_status.h"
#include "controller/status/vip_status.h"
#include "controller/status/wan_status.h"
#include "program/values/endpoints.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

/// Of the conditions of a resource, a listener, a parent or an ancestor those that are ours; others are left as they
/// are.
constexpr std::string_view kOurs[] = {
    "Accepted",     "Announced",        "ClustersReady", "Connected",
    "Conflicted",   "Degraded",         "Federated",     "Healthy",
    "NoEjection",   "PartiallyInvalid", "Programmed",    "Ready",
    "ResolvedRefs", "Shadowed",         "Valid",         "InsecureFrontendValidationMode"};
/// A status is no inventory: of more endpoints the counts tell.
constexpr std::size_t kMaxEndpoints = 500;

Json* condition_of(Json& conditions, std::string_view type) {
  for (Json& condition : conditions) {
    if (text_in(condition, "type") == type) return &condition;
  }
  return nullptr;
}

const Json* find_by(const Json& entries, const char* name, const std::string& value) {
  for (const Json& entry : entries) {
    if (text_in(entry, name) == value) return &entry;
  }
  return nullptr;
}

// ---- What agents know ------------------------------------------------------------------------------------------

/// What holds no more for the reason that `why`, a condition too, gives.
void withdraw(Json& conditions, std::string_view type, const Json& why) {
  Json* condition = condition_of(conditions, type);
  if (condition == nullptr || text_in(*condition, "status") != "True") return;
  (*condition)["status"] = "False";
  (*condition)["reason"] = why["reason"];
  (*condition)["message"] = why["message"];
}

/// \returns whether it waits for nothing but agents.
bool overlay_programmed(const DesiredStatus& desired, const AgentsView& agents, Json& status) {
  const auto found = status.find("conditions");
  if (!desired.servable || found == status.end()) return false;
  Json* programmed = condition_of(*found, "Programmed");
  if (programmed == nullptr || agents.all_run(desired.program)) return false;
  // What the compiler found wrong with it (AddressNotUsable, Invalid) is the reason, whatever agents do.
  if (text_in(*programmed, "status") != "True") return false;
  const bool refused = agents.refused >= desired.program && agents.refused != 0;
  std::string message = agents.programs.empty() ? std::string("no agent is connected")
                                                : std::to_string(agents.running(desired.program)) + " of " +
                                                      std::to_string(agents.programs.size()) + " agents run it";
  if (refused) message += "; " + agents.refusal;
  const bool pinned = !refused && !agents.pinned.empty();
  if (pinned) message = "a rollback holds " + agents.pinned;
  (*programmed)["status"] = "False";
  (*programmed)["reason"] = refused ? "AgentRefused" : pinned ? "RolledBack" : "Pending";
  (*programmed)["message"] = message;
  const Json why = *programmed;
  withdraw(*found, "Ready", why);
  if (const auto listeners = status.find("listeners"); listeners != status.end()) {
    for (Json& listener : *listeners) withdraw(listener["conditions"], "Programmed", why);
  }
  return !refused && !pinned;
}

/// A gateway's listeners that clients do not reach fail alone. The gateway itself is not programmed when that is all of
/// them, or for want of one of its addresses (Gateway API, `AddressNotUsable`).
void overlay_unbound(const DesiredStatus& desired, const AgentsView& agents, Json& status) {
  const auto listeners = status.find("listeners");
  const auto conditions = status.find("conditions");
  if (agents.unbound.empty() || listeners == status.end() || conditions == status.end()) return;
  const std::uint64_t id = desired.served_by != 0 ? desired.served_by : desired.key.stable_id();
  std::optional<Json> first;
  bool lacks_address = false;
  for (const UnboundListener& unbound : agents.unbound) {
    if (unbound.gateway_id != id || !unbound.listener.starts_with(desired.listener_prefix)) continue;
    const Json why = {{"reason", condition_reason(unbound.fault)}, {"message", unbound.reason}};
    for (Json& listener : *listeners) {
      if (desired.listener_prefix + text_in(listener, "name") == unbound.listener)
        withdraw(listener["conditions"], "Programmed", why);
    }
    const bool address = unbound.fault == BindFault::kAddress;
    if (!first || (address && !lacks_address)) {
      first = why;
      (*first)["message"] = "listener " + unbound.listener + ": " + unbound.reason;
    }
    lacks_address = lacks_address || address;
  }
  if (!first) return;
  const bool reached = std::ranges::any_of(*listeners, [](Json& listener) {
    const Json* programmed = condition_of(listener["conditions"], "Programmed");
    return programmed != nullptr && text_in(*programmed, "status") == "True";
  });
  if (lacks_address || !reached) withdraw(*conditions, "Programmed", *first);
  withdraw(*conditions, "Ready", *first);
}

/// What is wrong with names, as the end of a message.
std::string unresolved(const Json& status) {
  std::string text;
  for (const Json& name : list_in(status, "names")) {
    const std::string error = text_in(name, "lastError");
    if (!error.empty()) text += "; `" + text_in(name, "name") + "` is not resolved: " + error;
  }
  return text;
}

void set_healthy(Json& status, std::size_t healthy, std::size_t all) {
  Json& conditions = status["conditions"];
  Json* stored = condition_of(conditions, "Healthy");
  // Why there are no endpoints the linker knows best.
  if (stored != nullptr && all == 0) return;
  const std::string message =
      std::to_string(healthy) + " of " + std::to_string(all) + " endpoints are healthy" + unresolved(status);
  const char* const reason = all == 0 ? "NoEndpoints" : healthy > 0 ? "EndpointsHealthy" : "NoHealthyEndpoint";
  Json condition = condition_json(status, "Healthy", state_text(healthy > 0), reason, message);
  if (stored != nullptr) {
    *stored = std::move(condition);
  } else {
    conditions.push_back(std::move(condition));
  }
}

/// Endpoints that agents have found behind names.
void add_resolved(const std::string& backend, const AgentsView& agents, Json& status) {
  const auto names = status.find("names");
  if (names == status.end()) return;
  if (const auto said = agents.names.find(backend); said != agents.names.end()) {
    for (Json& name : *names) {
      const auto found = std::ranges::find(said->second, text_in(name, "name"), &NameHealth::name);
      if (found != said->second.end() && !found->error.empty()) name["lastError"] = found->error;
    }
  }
  const auto reported = agents.backends.find(backend);
  if (reported == agents.backends.end()) return;
  Json& endpoints = status["endpoints"];
  for (const auto& [address, endpoint] : reported->second) {
    if (find_by(endpoints, "address", address) != nullptr) continue;
    endpoints.push_back({{"address", address}, {"healthy", true}});
    if (!endpoint.zones.empty()) endpoints.back()["zone"] = program::zones_text(endpoint.zones);
  }
}

void overlay_health(const DesiredStatus& desired, const AgentsView& agents, Json& status) {
  const std::string backend = resource_path(desired.key.qualified_namespace(), desired.key.name);
  add_resolved(backend, agents, status);
  const auto reported = agents.backends.find(backend);
  std::size_t healthy = 0;
  Json& endpoints = status["endpoints"];
  for (Json& endpoint : endpoints) {
    const bool ready = endpoint.value("healthy", false);
    if (reported != agents.backends.end()) {
      const auto found = reported->second.find(text_in(endpoint, "address"));
      if (found != reported->second.end()) {
        endpoint["healthy"] = ready && found->second.healthy;
        if (found->second.last_check != WallTime()) {
          endpoint["lastCheck"] = timestamp_text(found->second.last_check);
        }
        if (!found->second.last_error.empty()) endpoint["lastError"] = found->second.last_error;
      }
    }
    healthy += endpoint.value("healthy", false) ? 1 : 0;
  }
  const std::size_t all = endpoints.size();
  status["healthyCount"] = healthy;
  status["unhealthyCount"] = all - healthy;
  status["endpointSummary"] = std::to_string(healthy) + "/" + std::to_string(all);
  set_healthy(status, healthy, all);
  if (all > kMaxEndpoints) endpoints.erase(endpoints.begin() + kMaxEndpoints, endpoints.end());
}

// ---- What stands there now ---------------------------------------------------------------------------------------

void add_flips(const Json& conditions, const Json& observed, const std::string& where,
               std::vector<ConditionFlip>& flips) {
  for (const Json& condition : conditions) {
    const Json* before = find_by(observed, "type", text_in(condition, "type"));
    if (before != nullptr && text_in(*before, "status") == text_in(condition, "status") &&
        text_in(*before, "reason") == text_in(condition, "reason")) {
      continue;
    }
    flips.push_back({text_in(condition, "type"), text_in(condition, "status"), text_in(condition, "reason"),
                     text_in(condition, "message"), before == nullptr, where});
  }
}

/// `Gateway shop/web` of a parentRef or an ancestorRef.
std::string place_of(const Json& reference) {
  const std::string kind = text_in(reference, "kind");
  const std::string space = text_in(reference, "namespace");
  return (kind.empty() ? "Gateway" : kind) + " " + (space.empty() ? "" : space + "/") + text_in(reference, "name");
}

/// Times of conditions that are as they were stay (metav1.Condition: `lastTransitionTime`).
void keep_times(Json& conditions, const Json& observed, const std::string& now) {
  for (Json& condition : conditions) {
    const Json* before = find_by(observed, "type", text_in(condition, "type"));
    const std::string time = before == nullptr ? std::string() : text_in(*before, "lastTransitionTime");
    const bool same = before != nullptr && text_in(*before, "status") == text_in(condition, "status") && !time.empty();
    condition["lastTransitionTime"] = same ? time : now;
  }
}

void keep_foreign_conditions(Json& conditions, const Json& observed) {
  for (const Json& condition : observed) {
    const std::string type = text_in(condition, "type");
    if (!type.empty() && std::ranges::find(kOurs, type) == std::end(kOurs)) conditions.push_back(condition);
  }
}

/// Conditions of listeners with their times, and those of others beside them.
void keep_listeners(Json& status, const Json& observed, const std::string& now, std::vector<ConditionFlip>& flips) {
  const auto listeners = status.find("listeners");
  if (listeners == status.end()) return;
  for (Json& listener : *listeners) {
    const Json* before = find_by(list_in(observed, "listeners"), "name", text_in(listener, "name"));
    const Json stood = before == nullptr ? Json::array() : list_in(*before, "conditions");
    keep_times(listener["conditions"], stood, now);
    add_flips(listener["conditions"], stood, "listener " + text_in(listener, "name"), flips);
    keep_foreign_conditions(listener["conditions"], stood);
  }
}

/// Entries of `parents` or `ancestors`: ours with their times, then those of other controllers.
void keep_entries(Json& status, const char* field, const char* reference, const Json& observed,
                  const std::string& controller, const std::string& now, std::vector<ConditionFlip>& flips) {
  const auto entries = status.find(field);
  if (entries == status.end()) return;
  const bool shared = std::string_view(reference) != "gateway";
  for (Json& entry : *entries) {
    const Json* before = nullptr;
    for (const Json& candidate : list_in(observed, field)) {
      if (!candidate.is_object() || candidate.value(reference, Json()) != entry[reference]) continue;
      if (!shared || text_in(candidate, "controllerName") == controller) before = &candidate;
    }
    const Json stood = before == nullptr ? Json::array() : list_in(*before, "conditions");
    keep_times(entry["conditions"], stood, now);
    // Parents of own routes say what the route's own conditions say.
    if (shared) add_flips(entry["conditions"], stood, place_of(entry[reference]), flips);
    keep_foreign_conditions(entry["conditions"], stood);
  }
  if (!shared) return;
  for (const Json& candidate : list_in(observed, field)) {
    if (text_in(candidate, "controllerName") != controller) entries->push_back(candidate);
  }
}

/// An endpoint that is as it was keeps the time of its check: a status is written for what changed, not for the time.
void keep_check_times(Json& status, const Json& observed) {
  const auto endpoints = status.find("endpoints");
  if (endpoints == status.end()) return;
  for (Json& endpoint : *endpoints) {
    const Json* before = find_by(list_in(observed, "endpoints"), "address", text_in(endpoint, "address"));
    if (before == nullptr || before->value("healthy", Json()) != endpoint["healthy"]) continue;
    if (text_in(*before, "lastError") != text_in(endpoint, "lastError")) continue;
    if (before->contains("lastCheck")) endpoint["lastCheck"] = (*before)["lastCheck"];
  }
}

Json without_checks(Json endpoints) {
  for (Json& endpoint : endpoints) {
    if (!endpoint.is_object()) continue;
    endpoint.erase("lastCheck");
    endpoint.erase("lastError");
  }
  return endpoints;
}

Json without_nodes(Json allocations) {
  for (Json& allocation : allocations) {
    if (allocation.is_object()) allocation.erase("node");
  }
  return allocations;
}

}  // namespace

std::string timestamp_text(std::chrono::system_clock::time_point time) {
  return rfc3339(std::chrono::system_clock::to_time_t(time));
}

std::optional<StatusChange> change_of_status(const DesiredStatus& desired, const std::string& observed,
                                             const AgentsView& agents, const std::string& controller_class,
                                             const std::string& now) {
  Json status = Json::parse(desired.status, nullptr, false);
  if (!status.is_object()) return std::nullopt;
  Json before = Json::parse(observed, nullptr, false);
  if (!before.is_object()) before = Json::object();
  StatusChange change;
  if (desired.key.kind == "ProxyBackend") overlay_health(desired, agents, status);
  if (desired.key.kind == "ProxyVIP") {
    const std::string name = resource_path(desired.key.qualified_namespace(), desired.key.name);
    overlay_vip(agents, name, status);
    if (auto move = move_of(agents, name, before, status)) change.flips.push_back(*std::move(move));
  }
  if (desired.key.kind == "EdgeRemoteCluster") {
    overlay_remote(agents, resource_path(desired.key.qualified_namespace(), desired.key.name), status);
  }
  if (is_wan_kind(desired.key.kind)) {
    const std::string name = resource_path(desired.key.qualified_namespace(), desired.key.name);
    overlay_wan(agents, desired.key.kind, name, status);
    for (ConditionFlip& move : wan_moves(before, status)) change.flips.push_back(std::move(move));
    if (desired.key.kind == "WANLink") {
      keep_tunnel_times(before, status);
      for (ConditionFlip& one : tunnel_changes(agents, name, before, status)) change.flips.push_back(std::move(one));
    }
  }
  change.only_pending = overlay_programmed(desired, agents, status);
  overlay_unbound(desired, agents, status);
  if (const auto conditions = status.find("conditions"); conditions != status.end()) {
    keep_times(*conditions, list_in(before, "conditions"), now);
    add_flips(*conditions, list_in(before, "conditions"), {}, change.flips);
    keep_foreign_conditions(*conditions, list_in(before, "conditions"));
  }
  keep_listeners(status, before, now, change.flips);
  keep_entries(status, "parents", desired.key.kind == "ProxyRoute" ? "gateway" : "parentRef", before, controller_class,
               now, change.flips);
  keep_entries(status, "ancestors", "ancestorRef", before, controller_class, now, change.flips);
  keep_check_times(status, before);
  Json fields = Json::object();
  for (auto& [name, value] : status.items()) {
    if (before.value(name, Json()) != value) fields[name] = std::move(value);
  }
  if (fields.empty()) return std::nullopt;
  change.only_checks = fields.size() == 1 && fields.contains("endpoints") &&
                       without_checks(fields["endpoints"]) == without_checks(list_in(before, "endpoints"));
  if (desired.key.kind == "WANLink") change.only_checks = only_figures(fields);
  change.allocates = desired.key.kind == "ProxyVIP" && fields.contains("allocations") &&
                     without_nodes(fields["allocations"]) != without_nodes(list_in(before, "allocations"));
  change.fields = json_line(fields);
  return change;
}

}  // namespace edge::controller
