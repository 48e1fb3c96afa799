#include "controller/operator/render/install.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/render/access.h"
#include "controller/operator/render/network_policy.h"
#include "controller/operator/render/relay_chart.h"
#include "controller/operator/render/security_context.h"
#include "controller/rights/access.h"
#include "schemas/crd.h"
#include "schemas/openapi.h"
#include "schemas/schema.h"
#include "schemas/yaml_text.h"

namespace edge::cluster_operator {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNamespace = "edge-system";
constexpr std::string_view kRepository = "registry.example.com/edge";
constexpr std::string_view kOperatorName = "edge-operator";
constexpr std::string_view kAccessVersion = "rbac.authorization.k8s.io/v1";
constexpr int kPort = 9093;
/// Of every file: whoever edits it is told where it comes from.
constexpr std::string_view kHead = "# Made by `ninja -C build/release update-deploy`; edits are lost.\n";

Json operator_labels() {
  return {{"app.kubernetes.io/name", kOperatorName},
          {"app.kubernetes.io/component", "operator"},
          {"app.kubernetes.io/part-of", "edge"}};
}

Json head(std::string_view api_version, std::string_view kind, const std::string& name, const std::string& name_space) {
  Json object = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  if (!name_space.empty()) object["metadata"]["namespace"] = name_space;
  object["metadata"]["labels"] = operator_labels();
  return object;
}

Json operator_probe(const char* path, int period) {
  return {{"httpGet", {{"path", path}, {"port", "admin"}}}, {"periodSeconds", period}, {"timeoutSeconds", 5}};
}

Json deployment(const OperatorPlace& place) {
  Json container = {
      {"name", kOperatorName},
      {"image", place.image},
      {"imagePullPolicy", place.pull_policy},
      {"args",
       {"--namespace", place.name_space, "--lease-namespace", place.name_space, "--health-listen",
        ":" + std::to_string(kPort), "--upgrade-definitions", place.upgrade_definitions}},
      {"ports", Json::array({{{"name", "admin"}, {"containerPort", kPort}, {"protocol", "TCP"}}})},
      {"securityContext", confined_container()},
      {"livenessProbe", operator_probe("/healthz", 10)},
      {"readinessProbe", operator_probe("/readyz", 5)},
      {"resources", {{"requests", {{"cpu", "20m"}, {"memory", "32Mi"}}}, {"limits", {{"memory", "256Mi"}}}}},
      {"volumeMounts", Json::array({{{"name", "scratch"}, {"mountPath", "/tmp"}}})}};
  Json pod = {
      {"serviceAccountName", kOperatorName},
      {"securityContext", unprivileged_pod()},
      {"containers", Json::array({std::move(container)})},
      // Keys are made there, and nowhere on a disk.
      {"volumes", Json::array({{{"name", "scratch"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "16Mi"}}}}})}};
  Json object = head("apps/v1", "Deployment", std::string(kOperatorName), place.name_space);
  object["spec"] = {{"replicas", 1},
                    {"selector", {{"matchLabels", operator_labels()}}},
                    {"template", {{"metadata", {{"labels", operator_labels()}}}, {"spec", std::move(pod)}}}};
  return object;
}

std::string documents(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) text += "---\n" + schemas::yaml_text(object);
  return text;
}

std::string install_yaml() {
  const Json name_space = {{"apiVersion", "v1"},
                           {"kind", "Namespace"},
                           {"metadata", {{"name", kNamespace}, {"labels", {{"app.kubernetes.io/part-of", "edge"}}}}}};
  const OperatorPlace place{.name_space = std::string(kNamespace),
                            .image = std::string(kRepository) + "/edge-operator:" EDGE_VERSION,
                            .pull_policy = "IfNotPresent"};
  return std::string(kHead) +
         "# kubectl apply --server-side -f install.yaml: the kinds, the namespace edge-system and the operator.\n" +
         schemas::crd_manifests() + documents({name_space}) + documents(operator_objects(place));
}

/// Kept when the chart is uninstalled: with a kind go all of its resources.
std::string chart_crds() {
  std::string text(kHead);
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    Json object = parse_ordered_json(schemas::crd_json(kind));
    object["metadata"]["annotations"]["helm.sh/resource-policy"] = "keep";
    text += "---\n" + schemas::yaml_text(object);
  }
  return text;
}

/// Of what is given apart.
void add_labels(std::vector<Json>& objects, std::string_view component, const std::string& name_space) {
  for (Json& object : objects) {
    Json& labels = object["metadata"]["labels"];
    labels["app.kubernetes.io/component"] = component;
    labels["app.kubernetes.io/part-of"] = "edge";
    labels[std::string(kClusterNamespaceLabel)] = name_space;
  }
}

std::string chart(std::string_view name, std::string_view description) {
  const Json object = {{"apiVersion", "v2"},         {"name", name},
                       {"description", description}, {"type", "application"},
                       {"version", EDGE_VERSION},    {"appVersion", EDGE_VERSION},
                       {"kubeVersion", ">=1.27.0-0"}};
  return std::string(kHead) + schemas::yaml_text(object);
}

std::string values_yaml() {
  return std::string(kHead) +
         "# Image of the operator.\n"
         "operator:\n"
         "  image: " +
         std::string(kRepository) + "/edge-operator:" EDGE_VERSION +
         "\n"
         "  imagePullPolicy: IfNotPresent\n"
         "  # Whether it brings the kinds (CRDs) to its version.\n"
         "  upgradeDefinitions: true\n"
         "# Automatic certificates: the controller may write Secrets, of every namespace or of those that are named,\n"
         "# and of the release's, in which controllers keep what they tell each other.\n"
         "acme:\n"
         "  enabled: false\n"
         "  namespaces: []\n"
         "# Federation: the controller may write the kinds that clusters share (docs/federation.md), in every "
         "namespace or\n"
         "# in those that are named. Where Secrets are shared it needs the right of acme, too.\n"
         "federation:\n"
         "  enabled: false\n"
         "  namespaces: []\n"
         "# Volume of what controllers share, which cluster.controller.stateClaim names (docs/clusters.md); no size: "
         "none\n"
         "# is made. Several replicas need ReadWriteMany.\n"
         "state:\n"
         "  size: ''\n"
         "  accessMode: ReadWriteMany\n"
         "  storageClassName: ''\n"
         "# A NetworkPolicy for controllers: the port of agents and other clusters is open, that of metrics to pods of "
         "the\n"
         "# release's namespace and to these peers (as `from` of a NetworkPolicy).\n"
         "networkPolicy:\n"
         "  enabled: false\n"
         "  metricsFrom: []\n"
         "# EdgeRemoteClusters by name, each with its spec: every field of docs/reference/EdgeRemoteCluster.md.\n"
         "remoteClusters: {}\n"
         "# The spec of the EdgeCluster: every field of docs/reference/EdgeCluster.md. Empty: none is made.\n"
         "cluster:\n"
         "  version: " EDGE_VERSION
         "\n"
         "  image:\n"
         "    repository: " +
         std::string(kRepository) + "\n";
}

Json namespaces_schema() {
  return {{"type", "array"},
          {"uniqueItems", true},
          {"items", {{"type", "string"}, {"pattern", "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}}}};
}

std::string values_schema() {
  const auto* const remote =
      std::ranges::find(schemas::kEdgeRemoteCluster.fields, "spec", &schemas::Field::name).base();
  const auto* const spec = std::ranges::find(schemas::kEdgeCluster.fields, "spec", &schemas::Field::name).base();
  Json cluster = schemas::object_schema(*spec->object, schemas::Dialect::kEditor);
  // Without a member it asks for none.
  const Json none = {{"type", "object"}, {"maxProperties", 0}};
  const Json schema = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"type", "object"},
      {"additionalProperties", false},
      {"properties",
       {{"global", {{"type", "object"}}},
        {"operator",
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"image", "imagePullPolicy"}},
          {"properties",
           {{"image", {{"type", "string"}, {"minLength", 1}}},
            {"upgradeDefinitions", {{"type", "boolean"}}},
            {"imagePullPolicy", {{"enum", {"Always", "IfNotPresent", "Never"}}}}}}}},
        {"acme",
         {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"enabled", {{"type", "boolean"}}}, {"namespaces", namespaces_schema()}}}}},
        {"federation",
         {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"enabled", {{"type", "boolean"}}}, {"namespaces", namespaces_schema()}}}}},
        {"state",
         {{"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"size", {{"type", "string"}}},
            {"accessMode", {{"enum", {"ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"}}}},
            {"storageClassName", {{"type", "string"}}}}}}},
        {"networkPolicy",
         {{"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"enabled", {{"type", "boolean"}}},
            {"metricsFrom", {{"type", "array"}, {"items", {{"type", "object"}}}}}}}}},
        {"remoteClusters",
         {{"type", "object"},
          {"propertyNames", {{"pattern", "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}}},
          {"additionalProperties", schemas::object_schema(*remote->object, schemas::Dialect::kEditor)}}},
        {"cluster", {{"anyOf", Json::array({std::move(cluster), none})}}}}}};
  return indented_json(schema);
}

constexpr std::string_view kClusterTemplate = R"({{- with .Values.cluster }}
apiVersion: )" EDGE_API_GROUP R"(/v1alpha1
kind: EdgeCluster
metadata:
  name: {{ $.Release.Name | quote }}
  namespace: {{ $.Release.Namespace | quote }}
spec:
{{ toYaml . | indent 2 }}
{{- end }}
)";

/// The right of the controller that the release makes.
std::string ordering_template() {
  const std::string space = "{{ $.Release.Namespace }}";
  const std::string cluster = "{{ $.Release.Name }}";
  const std::vector<Json> wide = ordering_objects(space, cluster, {});
  const std::vector<Json> named = ordering_objects(space, cluster, {"{{ . }}"});
  return std::string(kHead) + "{{- if .Values.acme.enabled }}\n" + documents({wide.front()}) +
         "{{- if .Values.acme.namespaces }}\n{{- range append .Values.acme.namespaces .Release.Namespace | uniq }}\n" +
         documents({named.at(1)}) + "{{- end }}\n{{- else }}\n" + documents({wide.back()}) + "{{- end }}\n{{- end }}\n";
}

/// The right of that controller to write what is federated.
std::string federation_template() {
  const std::string space = "{{ $.Release.Namespace }}";
  const std::string cluster = "{{ $.Release.Name }}";
  const std::vector<Json> wide = federation_objects(space, cluster, {});
  const std::vector<Json> named = federation_objects(space, cluster, {"{{ . }}"});
  return std::string(kHead) + "{{- if .Values.federation.enabled }}\n" + documents({wide.front()}) +
         "{{- range .Values.federation.namespaces }}\n" + documents({named.back()}) + "{{- else }}\n" +
         documents({wide.back()}) + "{{- end }}\n{{- end }}\n";
}

constexpr std::string_view kRemoteTemplate = R"({{- range $name, $spec := .Values.remoteClusters }}
---
apiVersion: )" EDGE_API_GROUP R"(/v1alpha1
kind: EdgeRemoteCluster
metadata:
  name: {{ $name | quote }}
  namespace: {{ $.Release.Namespace | quote }}
spec:
{{ toYaml $spec | indent 2 }}
{{- end }}
)";

std::string network_template() {
  return network_policy_template("{{ printf \"%s-controller\" .Release.Name | quote }}",
                                 "      app.kubernetes.io/name: edge\n"
                                 "      app.kubernetes.io/instance: {{ .Release.Name | quote }}\n"
                                 "      app.kubernetes.io/component: controller\n");
}

/// What all controllers of the cluster share. It stays when the release goes.
constexpr std::string_view kStateTemplate = R"({{- with .Values.state }}
{{- if .size }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ required "cluster.controller.stateClaim names the claim of state" (dig "controller" "stateClaim" "" ($.Values.cluster | default dict)) | quote }}
  namespace: {{ $.Release.Namespace | quote }}
  annotations:
    helm.sh/resource-policy: keep
spec:
  accessModes:
  - {{ .accessMode | quote }}
  {{- with .storageClassName }}
  storageClassName: {{ . | quote }}
  {{- end }}
  resources:
    requests:
      storage: {{ .size | quote }}
{{- end }}
{{- end }}
)";

constexpr std::string_view kNotes = R"(The operator of {{ .Release.Name }} runs in {{ .Release.Namespace }}.
{{- if .Values.cluster }}
It installs the edge proxy {{ .Values.cluster.version }}. See it become Running:

    kubectl --namespace {{ .Release.Namespace }} get edgeclusters --watch
{{- else }}
Make an EdgeCluster for it to install (docs/operator.md).
{{- end }}

The administrator's file for edgectl, and what edgectl says of the installation:

    kubectl --namespace {{ .Release.Namespace }} get secret {{ .Release.Name }}-admin -o jsonpath='{.data.admin\.pem}' | base64 -d > admin.pem
    edgectl status --credentials admin.pem
)";

}  // namespace

std::vector<Json> ordering_objects(const std::string& name_space, const std::string& cluster,
                                   const std::vector<std::string>& namespaces) {
  const controller::RolePlace place{
      .role = "edge-acme:" + name_space, .service_account = cluster + "-controller", .name_space = name_space};
  std::vector<Json> objects = {controller::ordering_role(place)};
  for (const std::string& one : namespaces) objects.push_back(controller::role_binding_in(place, one));
  if (namespaces.empty()) {
    objects.push_back(controller::role_binding(place));
  } else if (std::ranges::find(namespaces, name_space) == namespaces.end()) {
    // In the Lease's namespace controllers that do not lead keep a Secret, by which the leader knows them (decision
    // 0431).
    objects.push_back(controller::role_binding_in(place, name_space));
  }
  add_labels(objects, kOrderingComponent, name_space);
  return objects;
}

std::vector<Json> federation_objects(const std::string& name_space, const std::string& cluster,
                                     const std::vector<std::string>& namespaces) {
  const controller::RolePlace place{
      .role = "edge-federation:" + name_space, .service_account = cluster + "-controller", .name_space = name_space};
  std::vector<Json> objects = {controller::federation_role(place)};
  for (const std::string& one : namespaces) objects.push_back(controller::role_binding_in(place, one));
  if (namespaces.empty()) objects.push_back(controller::role_binding(place));
  add_labels(objects, kFederationComponent, name_space);
  return objects;
}

std::vector<Json> operator_objects(const OperatorPlace& place) {
  const std::string name(kOperatorName);
  // Of each namespace one operator: what has no namespace is named after it.
  const std::string wide = name + ":" + place.name_space;
  const Json subjects = Json::array({{{"kind", "ServiceAccount"}, {"name", name}, {"namespace", place.name_space}}});
  const auto reference = [](std::string_view kind, const std::string& to) {
    return Json{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", to}};
  };
  Json cluster_role = head(kAccessVersion, "ClusterRole", wide, {});
  cluster_role["rules"] = operator_cluster_rules();
  Json cluster_binding = head(kAccessVersion, "ClusterRoleBinding", wide, {});
  cluster_binding["roleRef"] = reference("ClusterRole", wide);
  cluster_binding["subjects"] = subjects;
  Json role = head(kAccessVersion, "Role", name, place.name_space);
  role["rules"] = operator_rules();
  Json binding = head(kAccessVersion, "RoleBinding", name, place.name_space);
  binding["roleRef"] = reference("Role", name);
  binding["subjects"] = subjects;
  return {head("v1", "ServiceAccount", name, place.name_space),
          std::move(cluster_role),
          std::move(cluster_binding),
          std::move(role),
          std::move(binding),
          deployment(place)};
}

std::vector<std::pair<std::string, std::string>> deploy_files() {
  const OperatorPlace in_chart{.name_space = "{{ .Release.Namespace }}",
                               .image = "{{ .Values.operator.image }}",
                               .pull_policy = "{{ .Values.operator.imagePullPolicy }}",
                               .upgrade_definitions = "{{ .Values.operator.upgradeDefinitions }}"};
  const std::string edge = "deploy/charts/edge/";
  const std::string crds = "deploy/charts/edge-crds/";
  std::vector<std::pair<std::string, std::string>> files = {
      {"deploy/install.yaml", install_yaml()},
      {crds + "Chart.yaml", chart("edge-crds", "Kinds of the edge proxy. They stay when the chart is uninstalled.")},
      {crds + "templates/crds.yaml", chart_crds()},
      {edge + "Chart.yaml", chart("edge", "Operator of the edge proxy, and one EdgeCluster. Needs edge-crds.")},
      {edge + "values.yaml", values_yaml()},
      {edge + "values.schema.json", values_schema()},
      {edge + "templates/operator.yaml", std::string(kHead) + documents(operator_objects(in_chart))},
      {edge + "templates/acme.yaml", ordering_template()},
      {edge + "templates/federation.yaml", federation_template()},
      {edge + "templates/network-policy.yaml", std::string(kHead) + network_template()},
      {edge + "templates/remote-clusters.yaml", std::string(kHead) + std::string(kRemoteTemplate)},
      {edge + "templates/state.yaml", std::string(kHead) + std::string(kStateTemplate)},
      {edge + "templates/cluster.yaml", std::string(kClusterTemplate)},
      {edge + "templates/NOTES.txt", std::string(kNotes)}};
  for (auto& file : relay_chart::files()) files.push_back(std::move(file));
  return files;
}

}  // namespace edge::cluster_operator
