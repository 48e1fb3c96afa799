#include "edgectl/web/api/call_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "net/server/target.h"

namespace edge::edgectl::web {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr Call kCalls[] = {
    {CallId::kSession, "GET", "/api/session", "getSession", "What is connected, and what it allows", "Session"},
    {CallId::kRights, "GET", "/api/rights/{plural}/{namespace}", "getRights",
     "Which changes the viewer may make to objects of a kind in a namespace", "Rights"},
    {CallId::kRightsOfCluster, "GET", "/api/rights/{plural}", "getClusterRights",
     "The same in every namespace, or for a kind without", "Rights"},
    {CallId::kOpenApi, "GET", "/api/openapi.json", "getOpenApi", "This document", "Any"},
    {CallId::kEvents, "GET", "/api/events", "watchEvents", "Changes, traffic and agents as server-sent events",
     "EventStream"},
    {CallId::kKinds, "GET", "/api/kinds", "listKinds", "The kinds of objects with their counts", "Kinds"},
    {CallId::kProblems, "GET", "/api/problems", "listProblems",
     "Objects whose conditions are not good, the worst first", "Problems"},
    {CallId::kObjects, "GET", "/api/objects/{plural}", "listObjects", "The objects of a kind as rows", "Objects"},
    {CallId::kObject, "GET", "/api/objects/{plural}/{namespace}/{name}", "getObject",
     "An object with conditions, events and relations", "Object"},
    {CallId::kObjectOfCluster, "GET", "/api/objects/{plural}/{name}", "getClusterObject",
     "The same of an object without a namespace", "Object"},
    {CallId::kExplain, "POST", "/api/explain", "explain", "Which rule matches a request, and why the others do not",
     "Explained", "ExplainRequest"},
    {CallId::kAgents, "GET", "/api/agents", "listAgents", "The agents as the controller knows them", "Agents"},
    {CallId::kAgent, "GET", "/api/agents/{name}", "getAgent", "An agent with its backends and virtual addresses",
     "Agent"},
    {CallId::kDrain,
     "POST",
     "/api/agents/{name}/drain",
     "drainAgent",
     "Has an agent give its virtual addresses away",
     "Drained",
     {},
     true},
    {CallId::kUndrain,
     "POST",
     "/api/agents/{name}/undrain",
     "undrainAgent",
     "Allows an agent to hold virtual addresses again",
     "Drained",
     {},
     true},
    {CallId::kTraffic, "GET", "/api/traffic", "getTraffic", "The traffic of the last seconds by route and backend",
     "Traffic"},
    {CallId::kRange, "GET", "/api/ranges/{range}", "getRange",
     "Requests, errors and latency of 6h, 24h, 7d or 30d, where there is a Prometheus server", "Range"},
    {CallId::kHistory,
     "GET",
     "/api/history",
     "listHistory",
     "The last programs of a group of agents with what changed them",
     "History",
     {},
     false,
     "group"},
    {CallId::kTopology,
     "GET",
     "/api/topology",
     "getTopology",
     "Addresses, gateways, hosts, routes, backends and endpoints as a graph",
     "Topology",
     {},
     false,
     "namespace search"},
    {CallId::kWan, "GET", "/api/sdwan", "getSdwan", "Sites, the tunnels between them, and the links that policies take",
     "Sdwan"},
    {CallId::kPolicyCover, "GET", "/api/policies", "listPolicyCover",
     "Policies with their targets, and routes with the policies that apply", "PolicyCover"},
    {CallId::kAddresses, "GET", "/api/addresses", "listAddresses",
     "Virtual addresses with the nodes that hold or announce them", "Addresses"},
    {CallId::kEndpoints, "GET", "/api/endpoints", "listEndpoints", "Endpoints of backends with their health on agents",
     "Endpoints"},
    {CallId::kCertificates, "GET", "/api/certificates", "listCertificates",
     "Certificates of listeners, those that end first before others, without keys", "Certificates"},
    {CallId::kAccessLog,
     "GET",
     "/api/access-log",
     "listRequests",
     "The latest requests of all agents",
     "AccessLog",
     {},
     false,
     "host route gateway backend method path status client minDuration after limit"},
    {CallId::kTraces,
     "GET",
     "/api/traces",
     "listTraces",
     "Traces of the last hour, or of another time",
     "Traces",
     {},
     false,
     "service operation minDuration maxDuration lookback tag limit"},
    {CallId::kTrace, "GET", "/api/traces/{id}", "getTrace", "A trace with its spans", "Trace"},
    {CallId::kFields, "GET", "/api/fields/{plural}", "getFields", "The fields of a kind", "Fields"},
    {CallId::kEdit, "GET", "/api/edit/{plural}/{namespace}/{name}", "getEdit", "An object's text for editing", "Edit"},
    {CallId::kEditOfCluster, "GET", "/api/edit/{plural}/{name}", "getClusterEdit",
     "The same of an object without a namespace", "Edit"},
    {CallId::kCheck, "POST", "/api/check", "checkDraft", "The compiler's diagnostics of a draft", "Checked",
     "DraftRequest"},
    {CallId::kDifference, "POST", "/api/difference", "compareDraft", "Which requests a draft or a deletion changes",
     "Difference", "DraftRequest"},
    {CallId::kApply, "POST", "/api/apply", "applyDraft", "Creates or changes an object", "Written", "DraftRequest",
     true},
    {CallId::kDelete, "POST", "/api/delete", "deleteObject", "Deletes an object", "Written", "DraftRequest", true},
    {CallId::kProgress, "POST", "/api/progress", "getProgress", "Which agents have what was written", "Progress",
     "ProgressRequest"},
    {CallId::kGivenClaims, "GET", "/api/claims", "listClaims", "The claims that the server was started with",
     "GivenClaims"},
    {CallId::kProve, "POST", "/api/claims", "proveClaims", "Proves claims about all requests", "Proven",
     "ClaimsRequest"},
    {CallId::kCompare, "POST", "/api/compare", "comparePrograms", "Which requests change from one program to another",
     "Difference", "CompareRequest"},
    {CallId::kAnalysis, "GET", "/api/analysis/{plural}/{namespace}/{name}", "getAnalysis",
     "The compiler's diagnostics of an object, and the cost of its hosts", "Analysis"},
    {CallId::kExplainKept, "POST", "/api/history/{program}/explain", "explainKept",
     "Explains a request by a program of the history", "Explained", "ExplainRequest"},
    {CallId::kRollback, "POST", "/api/rollback", "rollBack", "Pins agents to a program of the history", "Pinned",
     "RollbackRequest", true},
    {CallId::kRelease, "POST", "/api/release", "release", "Ends a rollback", "Pinned", "ReleaseRequest", true},
    {CallId::kFederation, "GET", "/api/federation", "getFederation",
     "What clusters share, how far peers are, and what they disagree about", "Federation"},
    {CallId::kFederationConflict, "GET", "/api/federation/conflicts/{kind}/{namespace}/{name}", "getConflict",
     "The versions of an object that clusters disagree about", "Conflicts"},
    {CallId::kResolveConflict, "POST", "/api/federation/resolve", "resolveConflict",
     "Writes one version of an object over the others", "Resolved", "ResolveRequest", true},
};

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    parts.push_back(part);
    path.remove_prefix(part.size());
  }
  return parts;
}

bool is_parameter(std::string_view part) { return part.starts_with('{'); }

/// nullopt: the path is not of this pattern.
std::optional<std::vector<std::string>> matched(std::string_view pattern, std::string_view path) {
  const auto wanted = parts_of(pattern);
  const auto given = parts_of(path);
  if (wanted.size() != given.size()) return std::nullopt;
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_parameter(wanted[i])) {
      if (wanted[i] != given[i]) return std::nullopt;
      continue;
    }
    auto decoded = net::server::decode_path(given[i]);
    if (!decoded || decoded->empty()) return std::nullopt;
    parameters.push_back(std::move(*decoded));
  }
  return parameters;
}

OrderedJson content_of(std::string_view schema) {
  const bool events = schema == "EventStream";
  return {{events ? "text/event-stream" : "application/json",
           {{"schema", {{"$ref", "#/components/schemas/" + std::string(schema)}}}}}};
}

OrderedJson operation_of(const Call& call) {
  OrderedJson operation = {{"operationId", call.name}, {"summary", call.summary}};
  for (const std::string_view part : parts_of(call.path)) {
    if (!is_parameter(part)) continue;
    operation["parameters"].push_back({{"name", part.substr(1, part.size() - 2)},
                                       {"in", "path"},
                                       {"required", true},
                                       {"schema", {{"type", "string"}}}});
  }
  for (std::string_view rest = call.query; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    operation["parameters"].push_back(
        {{"name", name}, {"in", "query"}, {"required", false}, {"schema", {{"type", "string"}}}});
  }
  if (!call.body.empty()) operation["requestBody"] = {{"required", true}, {"content", content_of(call.body)}};
  operation["responses"] = {{"200", {{"description", "Done"}, {"content", content_of(call.reply)}}},
                            {"default", {{"description", "Not done, and why"}, {"content", content_of("Error")}}}};
  operation["x-edge-changes"] = call.changes;
  return operation;
}

}  // namespace

std::span<const Call> calls() { return kCalls; }

FoundCall find_call(std::string_view method, std::string_view path) {
  FoundCall found;
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Call& call : kCalls) {
    auto parameters = matched(call.path, path);
    if (!parameters) continue;
    found.allow += (found.allow.empty() ? "" : ", ") + std::string(call.method);
    if (call.method != wanted) continue;
    found.call = &call;
    found.parameters = std::move(*parameters);
    return found;
  }
  return found;
}

std::string openapi_json() {
  OrderedJson paths = OrderedJson::object();
  for (const Call& call : kCalls) {
    std::string method(call.method);
    std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    paths[std::string(call.path)][method] = operation_of(call);
  }
  return json_line(OrderedJson{{"openapi", "3.1.0"},
                               {"info", {{"title", "edgectl web"}, {"version", EDGE_VERSION}}},
                               {"paths", std::move(paths)},
                               {"components", {{"schemas", parse_ordered_json(schemas_text())}}}});
}

}  // namespace edge::edgectl::web
