#include "controller/operator/render/relay_chart.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/render/network_policy.h"
#include "controller/operator/render/security_context.h"
#include "schemas/yaml_text.h"

namespace edge::cluster_operator::relay_chart {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHead = "# Made by `ninja -C build/release update-deploy`; edits are lost.\n";
constexpr std::string_view kImage = "registry.example.com/edge/edge-controller:" EDGE_VERSION;
constexpr const char* kName = "{{ .Release.Name }}";
constexpr int kAgentsPort = 9090;
constexpr int kAdminPort = 9092;

Json labels() {
  return {{"app.kubernetes.io/name", "edge-relay"},
          {"app.kubernetes.io/instance", kName},
          {"app.kubernetes.io/part-of", "edge"}};
}

Json head(std::string_view api_version, std::string_view kind) {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"metadata", {{"name", kName}, {"namespace", "{{ .Release.Namespace }}"}, {"labels", labels()}}}};
}

Json service() {
  Json object = head("v1", "Service");
  object["spec"] = {{"type", "{{ .Values.service.type }}"},
                    {"selector", labels()},
                    // Agents may join before there is a program for them.
                    {"publishNotReadyAddresses", true},
                    {"ports", Json::array({{{"name", "agents"}, {"port", kAgentsPort}, {"targetPort", "agents"}}})}};
  return object;
}

Json container() {
  return {{"name", "edge-controller"},
          {"image", "{{ .Values.image }}"},
          {"imagePullPolicy", "{{ .Values.imagePullPolicy }}"},
          {"args",
           {"--relay", "--data-dir", "/var/lib/edge/relay", "--hub-join", "/etc/edge/hub/join", "--hub",
            "{{ .Values.hub }}", "--group-label", "{{ .Values.groupLabel }}", "--agents-listen",
            "0.0.0.0:" + std::to_string(kAgentsPort), "--metrics-listen", ":" + std::to_string(kAdminPort)}},
          {"ports", Json::array({{{"name", "agents"}, {"containerPort", kAgentsPort}},
                                 {{"name", "admin"}, {"containerPort", kAdminPort}}})},
          {"securityContext", confined_container()},
          {"livenessProbe",
           {{"httpGet", {{"path", "/healthz"}, {"port", "admin"}}}, {"periodSeconds", 10}, {"timeoutSeconds", 5}}},
          // 503 while a group of its agents has no program.
          {"readinessProbe",
           {{"httpGet", {{"path", "/readyz"}, {"port", "admin"}}}, {"periodSeconds", 5}, {"timeoutSeconds", 5}}},
          {"volumeMounts", Json::array({{{"name", "data"}, {"mountPath", "/var/lib/edge"}},
                                        {{"name", "hub"}, {"mountPath", "/etc/edge/hub"}, {"readOnly", true}},
                                        {{"name", "scratch"}, {"mountPath", "/tmp"}}})}};
}

/// One pod: its disk has the authority of the site's agents, and what they are given while the hub is away.
Json stateful_set() {
  Json pod = {{"automountServiceAccountToken", false},
              {"securityContext", unprivileged_pod()},
              {"containers", Json::array({container()})},
              {"volumes", Json::array({{{"name", "hub"},
                                        {"secret",
                                         {{"secretName", "{{ required \"hubJoinSecret\" .Values.hubJoinSecret }}"},
                                          {"defaultMode", 0440},
                                          {"items", Json::array({{{"key", "join"}, {"path", "join"}}})}}}},
                                       {{"name", "scratch"}, {"emptyDir", Json::object()}}})}};
  // Not what is in it at each mount: keys are the user's alone, and are refused otherwise.
  pod["securityContext"]["fsGroupChangePolicy"] = "OnRootMismatch";
  Json claim = {
      {"metadata", {{"name", "data"}}},
      {"spec",
       {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "{{ .Values.storage }}"}}}}}}}};
  Json object = head("apps/v1", "StatefulSet");
  object["spec"] = {{"replicas", 1},
                    {"serviceName", kName},
                    {"selector", {{"matchLabels", labels()}}},
                    {"template", {{"metadata", {{"labels", labels()}}}, {"spec", std::move(pod)}}},
                    {"volumeClaimTemplates", Json::array({std::move(claim)})}};
  return object;
}

std::string values() {
  return std::string(kHead) + "# Image of edge-controller.\nimage: " + std::string(kImage) +
         "\nimagePullPolicy: IfNotPresent\n"
         "# Secret with the key `join`: the file that `edgectl cluster add` wrote at the hub.\n"
         "hubJoinSecret: ''\n"
         "# HOST:PORT of the hub; empty: as the file says.\n"
         "hub: ''\n"
         "# The label whose value is an agent's group.\n"
         "groupLabel: " EDGE_API_GROUP
         "/group\n"
         "# Sections of programs, at most 2 GiB besides those in use.\n"
         "storage: 4Gi\n"
         "# How agents outside of the cluster reach the relay, on port 9090.\n"
         "service:\n"
         "  type: ClusterIP\n"
         "# A NetworkPolicy for the relay: the port of agents is open, that of metrics to pods of the release's\n"
         "# namespace and to these peers (as `from` of a NetworkPolicy).\n"
         "networkPolicy:\n"
         "  enabled: false\n"
         "  metricsFrom: []\n";
}

std::string values_schema() {
  const Json text = {{"type", "string"}};
  const Json some_text = {{"type", "string"}, {"minLength", 1}};
  return indented_json(Json{{"$schema", "http://json-schema.org/draft-07/schema#"},
                            {"type", "object"},
                            {"additionalProperties", false},
                            {"required", {"image", "imagePullPolicy", "groupLabel", "storage", "service"}},
                            {"properties",
                             {{"global", {{"type", "object"}}},
                              {"image", some_text},
                              {"imagePullPolicy", {{"enum", {"Always", "IfNotPresent", "Never"}}}},
                              {"hubJoinSecret", text},
                              {"hub", text},
                              {"groupLabel", some_text},
                              {"storage", some_text},
                              {"service",
                               {{"type", "object"},
                                {"additionalProperties", false},
                                {"required", {"type"}},
                                {"properties", {{"type", {{"enum", {"ClusterIP", "NodePort", "LoadBalancer"}}}}}}}},
                              {"networkPolicy",
                               {{"type", "object"},
                                {"additionalProperties", false},
                                {"properties",
                                 {{"enabled", {{"type", "boolean"}}},
                                  {"metricsFrom", {{"type", "array"}, {"items", {{"type", "object"}}}}}}}}}}}});
}

std::string network_template() {
  return network_policy_template("{{ .Release.Name | quote }}",
                                 "      app.kubernetes.io/name: edge-relay\n"
                                 "      app.kubernetes.io/instance: {{ .Release.Name | quote }}\n"
                                 "      app.kubernetes.io/part-of: edge\n");
}

constexpr std::string_view kNotes =
    R"(The relay {{ .Release.Name }} takes programs from the hub. Agents of the site join it with its file:

    kubectl --namespace {{ .Release.Namespace }} exec {{ .Release.Name }}-0 -- /usr/bin/edge-controller --print-join --data-dir /var/lib/edge/relay > join
    edge-agent --controller {{ .Release.Name }}.{{ .Release.Namespace }}.svc:9090 --token-file join ...

At the hub: edgectl get remoteclusters, edgectl agents list.
)";

}  // namespace

std::vector<std::pair<std::string, std::string>> files() {
  const std::string chart = "deploy/charts/edge-relay/";
  const Json about = {{"apiVersion", "v2"},
                      {"name", "edge-relay"},
                      {"description", "Relay of the edge proxy: programs of a hub for the agents of a site."},
                      {"type", "application"},
                      {"version", EDGE_VERSION},
                      {"appVersion", EDGE_VERSION},
                      {"kubeVersion", ">=1.27.0-0"}};
  return {{chart + "Chart.yaml", std::string(kHead) + schemas::yaml_text(about)},
          {chart + "values.yaml", values()},
          {chart + "values.schema.json", values_schema()},
          {chart + "templates/relay.yaml",
           std::string(kHead) + "---\n" + schemas::yaml_text(service()) + "---\n" + schemas::yaml_text(stateful_set())},
          {chart + "templates/network-policy.yaml", std::string(kHead) + network_template()},
          {chart + "templates/NOTES.txt", std::string(kNotes)}};
}

}  // namespace edge::cluster_operator::relay_chart
