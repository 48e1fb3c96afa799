#include "base/text/json.h"

#include <nlohmann/json.hpp>

#include "program/dump/dump.h"
#include "program/dump/route_tree.h"

namespace edge::program {
namespace {

using Json = nlohmann::ordered_json;

Json filters_json(const std::vector<TreeFilter>& filters) {
  Json json = Json::array();
  for (const TreeFilter& filter : filters) {
    Json item = {{"op", filter.op}};
    if (!filter.name.empty()) item["name"] = filter.name;
    if (!filter.value.empty()) item["value"] = filter.value;
    json.push_back(std::move(item));
  }
  return json;
}

Json names_json(const std::vector<TreePolicyName>& policies) {
  Json json = Json::array();
  for (const TreePolicyName& policy : policies) json.push_back({{"name", policy.name}, {"type", policy.type}});
  return json;
}

Json action_json(const TreeAction& action) {
  Json json;
  json["route"] = action.route;
  json["rule"] = action.rule;
  json["match"] = action.match;
  json["backends"] = Json::array();
  for (const TreeBackend& backend : action.backends) {
    json["backends"].push_back({{"name", backend.name}, {"weight", backend.weight}, {"canary", backend.canary}});
    if (backend.filters) json["backends"].back()["filters"] = filters_json(*backend.filters);
  }
  if (!action.filters.empty()) json["filters"] = filters_json(action.filters);
  if (!action.policies.empty()) json["policies"] = names_json(action.policies);
  for (const auto& mirror : action.mirrors) {
    json["mirrors"].push_back(
        {{"backend", mirror.backend},
         {"percent", mirror.share.denominator == 100 ? Json(mirror.share.numerator) : Json(percent_of(mirror.share))}});
    if (!mirror.host.empty()) json["mirrors"].back()["host"] = mirror.host;
  }
  const TreatmentRecord& treatment = *action.treatment;
  json["maxRequestBody"] = treatment.max_request_body;
  if (treatment.request_timeout_ns != 0) json["requestTimeoutNs"] = treatment.request_timeout_ns;
  if (treatment.idle_timeout_ns != 0) json["idleTimeoutNs"] = treatment.idle_timeout_ns;
  if (treatment.min_grpc_timeout_ns != 0) json["minGrpcTimeoutNs"] = treatment.min_grpc_timeout_ns;
  if ((treatment.flags & kBufferRequest) != 0) json["bufferRequest"] = true;
  if ((treatment.flags & kBufferResponse) != 0) json["bufferResponse"] = true;
  if (treatment.max_buffer != 0) json["maxBuffer"] = treatment.max_buffer;
  if (treatment.max_retries != kRetriesOfBackend) {
    json["retry"] = {{"maxRetries", treatment.max_retries}, {"retryOn", retry_names(treatment.retry_on)}};
    if (treatment.try_timeout_ns != 0) json["retry"]["tryTimeoutNs"] = treatment.try_timeout_ns;
  }
  if ((treatment.flags & kDenied) != 0) json["denied"] = true;
  return json;
}

Json settings_json(const TreeSettings& settings) {
  Json json = Json::object();
  for (const auto& [name, value] : settings.fields)
    std::visit([&json, &key = name](const auto& held) { json[key] = held; }, value);
  return json;
}

void add_settings(const std::vector<TreeSettings>& all, Json& json) {
  for (const TreeSettings& settings : all) json[settings.name] = settings_json(settings);
}

Json gateways_json(const ProgramView& program) {
  Json gateways = Json::array();
  for (const TreeGateway& gateway : gateways_of(program)) {
    Json& json = gateways.emplace_back(Json{{"name", gateway.name}});
    add_settings(gateway.settings, json);
  }
  return gateways;
}

Json backends_json(const ProgramView& program) {
  Json backends = Json::array();
  for (const TreeBackendSettings& backend : backends_of(program)) {
    Json& json = backends.emplace_back(Json{{"name", backend.name}, {"limits", settings_json(backend.limits)}});
    add_settings(backend.settings, json);
  }
  return backends;
}

Json policies_json(const ProgramView& program) {
  Json policies = Json::array();
  for (const TreePolicy& policy : policies_of(program)) {
    policies.push_back({{"name", policy.name}, {"type", policy.type}, {"settings", settings_json(policy.settings)}});
  }
  return policies;
}

Json host_json(const TreeHost& host) {
  Json targets = Json::array();
  for (const TreeTarget& target : host.targets) {
    Json item = {{"class", target.path_class}};
    if (!target.path.empty()) item["path"] = target.path;
    item["candidates"] = Json::array();
    for (const TreeCandidate& candidate : target.candidates) {
      Json entry = action_json(candidate.action);
      if (!candidate.condition.empty()) entry["when"] = candidate.condition;
      item["candidates"].push_back(std::move(entry));
    }
    targets.push_back(std::move(item));
  }
  Json json = {{"host", host.pattern}};
  if (!host.next.empty()) json["next"] = host.next;
  json["targets"] = std::move(targets);
  return json;
}

}  // namespace

std::string dump_routes_json(const ProgramView& program) {
  const RouteTree tree = route_tree(program);
  Json binds = Json::array();
  for (const TreeBind& bind : tree.binds) {
    Json claims = Json::array();
    for (const TreeBind::Claim& claim : bind.claims)
      claims.push_back({{"host", claim.pattern}, {"listener", claim.listener}});
    binds.push_back({{"address", bind.address},
                     {"port", bind.port},
                     {"protocol", bind.protocol},
                     {"listeners", std::move(claims)}});
  }
  Json listeners = Json::array();
  for (const TreeListener& listener : tree.listeners) {
    Json hosts = Json::array();
    for (const TreeHost& host : listener.hosts) hosts.push_back(host_json(host));
    Json& json = listeners.emplace_back(Json{{"gateway", listener.gateway},
                                             {"name", listener.name},
                                             {"maxRequestBody", listener.max_request_body},
                                             {"trustedProxies", listener.trusted_proxies}});
    add_settings(listener.settings, json);
    if (!listener.claims.empty())
      json["claims"] = {{"policy", listener.token_policy.name}, {"matched", listener.claims}};
    json["hosts"] = std::move(hosts);
    if (!listener.policies_without_route.empty()) {
      json["withoutRoute"] = {{"policies", names_json(listener.policies_without_route)}};
      if (listener.denied_without_route) json["withoutRoute"]["denied"] = true;
    }
  }
  const Json document = {{"binds", std::move(binds)},
                         {"listeners", std::move(listeners)},
                         {"gateways", gateways_json(program)},
                         {"backends", backends_json(program)},
                         {"policies", policies_json(program)}};
  return indented_json(document);
}

}  // namespace edge::program
