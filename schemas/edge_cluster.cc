#include "schemas/federated_kinds.h"
#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kPullPolicies[] = {"Always", "IfNotPresent", "Never"};
constexpr std::string_view kStrategies[] = {"RollingUpdate", "OnDelete"};
constexpr std::string_view kLogLevels[] = {"error", "warn", "info", "debug"};
constexpr std::string_view kPhases[] = {"Pending", "Initializing", "Running", "Upgrading", "Degraded", "Failed"};
constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
constexpr std::string_view kOperators[] = {"Exists", "Equal"};
constexpr std::string_view kUnsatisfiable[] = {"DoNotSchedule", "ScheduleAnyway"};

constexpr Field kImageFields[] = {
    string("repository", "Repository of the images; each component adds its name.").needed(),
    string("pullPolicy", "When an image is fetched.").one_of(kPullPolicies).defaults_to("IfNotPresent"),
    strings("pullSecrets", "Names of secrets that open the registry.").as(Format::kName).at_most(16),
};
constexpr Object kImage{kImageFields};

constexpr Field kResourceFields[] = {
    string_map("requests", "What is set aside, such as `cpu: 500m`."),
    string_map("limits", "What is never exceeded."),
};
constexpr Object kResources{kResourceFields};

constexpr Field kTolerationFields[] = {
    string("key", "Key of the taint; all without it."),
    string("operator", "Whether the value is compared.").one_of(kOperators).defaults_to("Equal"),
    string("value", "Value of the taint."),
    string("effect", "Effect of the taint; all without it.").one_of(kEffects),
};
constexpr Object kToleration{kTolerationFields};

constexpr Field kSecretKeyFields[] = {
    string("name", "Name of the secret, in the namespace of the EdgeCluster.").as(Format::kName).needed(),
    string("key", "Key in it.").needed(),
};
constexpr Object kSecretKey{kSecretKeyFields};

constexpr Field kVariableFields[] = {
    string("name", "Name of the variable. `NODE_NAME` is set by the operator.").needed(),
    string("value", "Its value."),
    object("secretKeyRef", kSecretKey, "Key of a secret that has its value."),
};
constexpr Rule kVariableRules[] = {
    {"has(self.value) != has(self.secretKeyRef)", "exactly one of value and secretKeyRef is required"},
    {"self.name != 'NODE_NAME'", "NODE_NAME is set by the operator"},
};
constexpr Object kVariable{.fields = kVariableFields, .rules = kVariableRules};

constexpr Field kSpreadFields[] = {
    string("topologyKey", "Label of nodes whose values are the domains, such as `topology.kubernetes.io/zone`.")
        .needed(),
    integer("maxSkew", "Largest difference of the numbers of pods in two domains.").within(1, 99).defaults_to("1"),
    string("whenUnsatisfiable", "What happens where it would be larger.")
        .one_of(kUnsatisfiable)
        .defaults_to("ScheduleAnyway"),
};
constexpr Object kSpread{kSpreadFields};

constexpr Field kServiceAccountFields[] = {
    string_map("annotations", "Annotations, such as the role of a cloud that its pods have."),
};
constexpr Object kServiceAccount{kServiceAccountFields};

constexpr Field kAffinityField =
    anything("affinity", "Affinity of pods in the form of Kubernetes: nodeAffinity, podAffinity, podAntiAffinity.");
constexpr Field kEnvField = objects("env", kVariable, "Environment variables in addition to those of the operator.")
                                .at_most(64)
                                .keyed_by("name");
constexpr Field kServiceAccountField = object("serviceAccount", kServiceAccount, "ServiceAccount of its pods.");

constexpr std::string_view kHubReads[] = {"config", "traces", "none"};

constexpr Field kHubFederationFields[] = {
    strings("kinds", "Kinds that are exchanged with the hub.").one_of(kFederatedKinds).at_most(16).needed(),
    strings("namespaces", "Namespaces that are exchanged; all without it.")
        .as(Format::kNamespace)
        .at_most(1024)
        .narrowing(),
};
constexpr Object kHubFederation{kHubFederationFields};

constexpr Field kJoinSecretFields[] = {
    string("name", "Name of the secret, in the namespace of the EdgeCluster.").as(Format::kName).needed(),
};
constexpr Object kJoinSecret{kJoinSecretFields};

constexpr Field kHubFields[] = {
    object("joinSecretRef", kJoinSecret, "Secret whose key `join` is the file of `edgectl cluster add` at the hub.")
        .needed(),
    string("address", "Host and port of the hub's controller; as the join file says without it.").as(Format::kHostPort),
    object("federation", kHubFederation, "What is exchanged with the hub; nothing without it."),
    string("reads", "What administrators of the hub may read: objects and the program, traces too, or nothing.")
        .one_of(kHubReads)
        .defaults_to("config"),
};
constexpr Object kHub{kHubFields};

constexpr Field kControllerFields[] = {
    integer("replicas", "Controllers; one leads, the others stand by.").within(0, 99).defaults_to("1"),
    string("controllerClass", "Class of the gateways that it serves (rule D8).").defaults_to(EDGE_API_GROUP "/proxy"),
    integer("grpcPort", "Port that agents and remote clusters connect to.").within(1, 65535).defaults_to("9090"),
    object("resources", kResources, "Processor and memory of each."),
    string_map("nodeSelector", "Labels of the nodes that may run it."),
    objects("tolerations", kToleration, "Taints that it bears.").at_most(64),
    kAffinityField,
    objects("topologySpreadConstraints", kSpread, "How controllers are spread over nodes.").at_most(16),
    kServiceAccountField,
    kEnvField,
    string("stateClaim",
           "PersistentVolumeClaim, in the namespace of the EdgeCluster, with what its controllers share: the state of "
           "federation, and what connects the cluster with others. Several replicas need one that can be mounted on "
           "several nodes (ReadWriteMany). Without it that is lost with each pod.")
        .as(Format::kName),
    object("hub", kHub, "Hub that the cluster connects to."),
};
constexpr Rule kControllerRules[] = {
    {"!has(self.hub) || has(self.stateClaim)",
     "hub needs stateClaim: a pod that begins anew has nothing to come back to the hub with"},
};
constexpr Object kController{.fields = kControllerFields, .rules = kControllerRules};

constexpr Field kUpdateFields[] = {
    string("type", "How agents are replaced.").one_of(kStrategies).defaults_to("RollingUpdate"),
    int_or_string("maxUnavailable", "Agents that may be down at a time, as a number or a percentage.")
        .as(Format::kCountOrPercent)
        .within(0, 100'000)
        .defaults_to("1"),
    string("canaryDuration", "How long the first agent of a new configuration must serve before the others follow.")
        .as(Format::kDuration)
        .defaults_to("30s"),
    string("canaryTimeout", "How long it may take to become ready.").as(Format::kDuration).defaults_to("10m"),
};
constexpr Object kUpdate{kUpdateFields};

constexpr Field kAgentFields[] = {
    string_map("nodeSelector", "Labels of the nodes that run an agent; all without it."),
    objects("tolerations", kToleration, "Taints that agents bear.").at_most(64),
    kAffinityField,
    kServiceAccountField,
    kEnvField,
    boolean("hostNetwork", "Whether agents use the node's network; addresses can be held only so.").defaults_to("true"),
    integer("metricsPort", "Port of /metrics.").within(1, 65535).defaults_to("9090"),
    integer("healthPort", "Port of /healthz and /readyz.").within(1, 65535).defaults_to("9091"),
    object("resources", kResources, "Processor and memory of each."),
    object("updateStrategy", kUpdate, "How a new version reaches them."),
    string("drainTimeout", "How long a leaving agent finishes requests.").as(Format::kDuration).defaults_to("30s"),
};
constexpr Object kAgents{kAgentFields};

constexpr Field kWebOidcFields[] = {
    string("issuerURL", "Issuer.").as(Format::kUrl).needed(),
    string("clientID", "Client id.").needed(),
    object("clientSecretRef", kSecretRef, "Secret with the key client-secret.").needed(),
    string("redirectURL", "Where the provider sends users back to.").as(Format::kUrl).needed(),
    strings("scopes", "Scopes.").defaults_to("[openid, profile, email]").at_most(32),
    object("sessionSecretRef", kSecretRef, "Secret with the key session-secret, 32 bytes."),
    strings("groups", "Refused where the dashboard runs: what users may do is decided by the RBAC of the cluster.")
        .at_most(64),
};
constexpr Object kWebOidc{kWebOidcFields};

constexpr Field kWebFields[] = {
    boolean("enabled", "Whether the dashboard runs.").defaults_to("false"),
    integer("replicas", "Instances.").within(0, 99).defaults_to("1"),
    integer("port", "Port.").within(1, 65535).defaults_to("9080"),
    boolean("readOnly", "Whether it may change nothing.").defaults_to("false"),
    object("tlsSecretRef", kSecretRef, "Secret with its certificate."),
    object("oidc", kWebOidc, "Sign-in by OpenID Connect; without it users sign in as the API has it."),
    string("metricsURL", "URL of a Prometheus server for what is older than the last hour.").as(Format::kUrl),
};
constexpr Object kWeb{kWebFields};

constexpr Field kSpecFields[] = {
    string("version", "Version of every component, such as `0.1.0`.").needed(),
    object("image", kImage, "Where the images come from."),
    object("controller", kController, "The controller."),
    object("agents", kAgents, "The agents, one a node."),
    object("web", kWeb, "The dashboard."),
    string("logLevel", "What is logged.").one_of(kLogLevels).defaults_to("info"),
    boolean("paused", "Whether the operator leaves everything as it is.").defaults_to("false"),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kStatusFields[] = {
    string("phase", "Where the cluster stands.").one_of(kPhases),
    string("version", "Version that runs on every component."),
    object("controller", kReadyCount, "Controllers."),
    object("agents", kReadyCount, "Agents."),
    object("web", kReadyCount, "Dashboards."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr std::string_view kAliases[] = {"clusters", "cluster", "cl"};
constexpr Column kColumns[] = {
    {"VERSION", ".status.version"},
    {"PHASE", ".status.phase"},
    {"CONTROLLER", ".status.controller.summary"},
    {"AGENTS", ".status.agents.summary"},
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: EdgeCluster
metadata:
  name: production
  namespace: edge-system
spec:
  version: 0.1.0
  image:
    repository: registry.example.com/edge
  controller:
    replicas: 2
  agents:
    nodeSelector:
      edge: "yes"
    updateStrategy:
      maxUnavailable: 10%
  web:
    enabled: true
)";

}  // namespace

const Object kEdgeCluster{kFields};
const Manifest kEdgeClusterManifest{
    .text =
        "An installation of the edge proxy: which version runs, on which nodes, with which controller and dashboard. "
        "The operator makes it so and reports how far it is.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kStatus,
    .example = kExample};

}  // namespace edge::schemas
