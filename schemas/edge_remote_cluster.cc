#include "schemas/federated_kinds.h"
#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kPhases[] = {"Pending", "Connecting", "Connected", "Degraded", "Disconnected", "Failed"};
constexpr std::string_view kConflicts[] = {"OldestWins", "NewestWins", "HubWins"};

constexpr Field kTlsFields[] = {
    object("clientSecretRef", kSecretRef, "Secret of type kubernetes.io/tls that the cluster proves itself with.")
        .needed(),
    object("caSecretRef", kSecretRef,
           "Secret with the key ca.crt that the controller is checked by; the system's "
           "authorities without it."),
    string("serverName", "Name in the controller's certificate; the host of controllerAddress without it.")
        .as(Format::kHostname),
    string("revokedBefore",
           "At the hub: certificates of the cluster that were issued until then are refused, by every controller. "
           "`edgectl cluster add`, `token` and `revoke` write it.")
        .as(Format::kTimestamp),
};
constexpr Object kTls{kTlsFields};

constexpr Field kHeartbeatFields[] = {
    string("interval", "Time between two signs of life.").as(Format::kDuration).defaults_to("10s"),
    string("timeout", "Silence after which the cluster counts as disconnected.")
        .as(Format::kDuration)
        .defaults_to("30s"),
};
constexpr Object kHeartbeat{kHeartbeatFields};

constexpr Field kGrantFields[] = {
    boolean("enabled", "False: nothing at all.").defaults_to("true"),
    strings("kinds", "Kinds; those of the federation without it.").one_of(kFederatedKinds).at_most(16).narrowing(),
    strings("namespaces", "Namespaces; those of the federation without it.")
        .as(Format::kNamespace)
        .at_most(1024)
        .narrowing(),
};
constexpr Object kGrant{kGrantFields};

constexpr Field kQuotaFields[] = {
    integer("objects", "Versions of objects that the cluster may have written.")
        .within(1, 1'000'000)
        .defaults_to("20000"),
    string("bytes", "Size of these.").as(Format::kSize).defaults_to("128Mi"),
};
constexpr Object kQuota{kQuotaFields};

constexpr Field kFederationFields[] = {
    boolean("enabled", "Whether resources are exchanged with the cluster.").defaults_to("false"),
    strings("kinds", "Kinds that are exchanged; none without it. A Secret travels only where it is named.")
        .one_of(kFederatedKinds)
        .at_most(16),
    strings("namespaces", "Namespaces that are exchanged; all without it.")
        .as(Format::kNamespace)
        .at_most(1024)
        .narrowing(),
    object("reads", kGrant, "What the cluster is shown; all that is exchanged without it.").narrowing(),
    object("shares", kGrant,
           "Where the cluster may write objects that it made; everywhere without it. Of no effect in an object that "
           "leads to a hub.")
        .narrowing(),
    object("writes", kGrant,
           "Where the cluster may write objects that others made; nowhere without it, and of a hub everywhere.")
        .narrowing(),
    object("quota", kQuota, "Most that is taken of the cluster."),
    string("conflictPolicy",
           "Which version holds when clusters changed a resource without knowing of each other. The "
           "oldest object at the hub names it for all clusters.")
        .one_of(kConflicts)
        .defaults_to("OldestWins"),
    string("syncInterval", "Time between two full comparisons.").as(Format::kDuration).defaults_to("5m"),
};
constexpr Object kFederation{kFederationFields};

constexpr Field kSpecFields[] = {
    string("controllerAddress", "Host and port of the controller that the cluster connects to, over gRPC.")
        .as(Format::kHostPort)
        .needed(),
    object("tls", kTls, "Mutual TLS of the connection.").needed(),
    string("region", "Region of the cluster; endpoints of one's own region come first."),
    string("zone", "Zone of the cluster within its region."),
    string("siteRef", "Name of the Site that the cluster stands at.").as(Format::kNamespacedName),
    object("heartbeat", kHeartbeat, "Signs of life."),
    object("federation", kFederation, "Exchange of resources."),
    strings(
        "agentGroups",
        "Groups of this cluster's agents that agents of the other may be in, which take programs through a relay in "
        "place of a controller there. Without it none does.")
        .as(Format::kLabel)
        .at_most(16),
    strings("exportNamespaces",
            "Namespaces whose services, which ServiceExports of the cluster name, the hub passes on to other clusters; "
            "`*` all, and none without it.")
        .at_most(1024),
    boolean("suspended", "Whether the cluster is kept out without being forgotten.").defaults_to("false"),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kFederationStatusFields[] = {
    boolean("synced", "Whether the cluster has everything that it is shown."),
    integer("objects", "Objects that are federated, with all clusters together.").within(0, kNoMaximum),
    integer("conflicts", "Objects with versions that disagree, likewise.").within(0, kNoMaximum),
    integer("lag", "Changes that the cluster has not acknowledged yet.").within(0, kNoMaximum),
    integer("refused", "Versions of the cluster that were not taken here since the controller began.")
        .within(0, kNoMaximum),
    integer("refusedByPeer", "Versions that the cluster did not take, likewise.").within(0, kNoMaximum),
};
constexpr Object kFederationStatus{kFederationStatusFields};

constexpr Field kStatusFields[] = {
    string("phase", "Where the connection stands.").one_of(kPhases),
    string("version", "Version that the cluster reports."),
    object("agents", kReadyCount, "Agents of the cluster."),
    string("clusterUID", "UID of the cluster, which outlives its controllers."),
    string("lastHeartbeat", "When the cluster was last heard; while it is connected, to the minute.")
        .as(Format::kTimestamp),
    string("program", "Hash of the program that its agents serve."),
    string("lag", "For how long not all of its agents had served it, when that was last told.").as(Format::kDuration),
    string("certificateExpires", "When the certificate ends that the cluster showed last.").as(Format::kTimestamp),
    string("certificateKey",
           "SHA-256 of the key of that certificate. Certificates of other keys that end no later are refused."),
    string("certificateShown",
           "When the cluster first showed it, to the next full second. Certificates of other keys that were issued "
           "until then are refused.")
        .as(Format::kTimestamp),
    object("federation", kFederationStatus, "Exchange of resources."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr std::string_view kAliases[] = {"remoteclusters", "remotecluster", "rcl"};
constexpr Column kColumns[] = {
    {"VERSION", ".status.version"},
    {"PHASE", ".status.phase"},
    {"REGION", ".spec.region", ColumnType::kString, true},
    {"AGENTS", ".status.agents.summary"},
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: EdgeRemoteCluster
metadata:
  name: frankfurt
  namespace: edge-system
spec:
  controllerAddress: controller.example.com:9090
  tls:
    clientSecretRef:
      name: frankfurt-client
  region: eu-central
  federation:
    enabled: true
    kinds: [ProxyRoute, ProxyBackend]
)";

}  // namespace

const Object kEdgeRemoteCluster{kFields};
const Manifest kEdgeRemoteClusterManifest{
    .text =
        "A cluster elsewhere whose agents are served by this one's controller. It connects over gRPC with mutual TLS, "
        "and may exchange resources.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kStatus,
    .example = kExample};

}  // namespace edge::schemas
