#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kStrategies[] = {"Preferred", "LowestLatency", "LowestLoss", "LoadBalance"};
constexpr std::string_view kProtocols[] = {"TCP", "UDP", "ICMP"};
constexpr std::string_view kFallbacks[] = {"BestEffort", "Drop"};
constexpr std::string_view kClasses[] = {"Voice", "Default", "Bulk"};

constexpr Field kMatchFields[] = {
    strings("sources", "Networks that the traffic comes from.").as(Format::kCidr).at_most(1024),
    strings("destinations", "Networks that it goes to.").as(Format::kCidr).at_most(1024),
    strings("protocols", "Transport protocols.").one_of(kProtocols).at_most(8),
    integers("ports", "Destination ports.").within(1, 65535).at_most(1024),
    integers("dscp", "Code points of the traffic class (RFC 2474).").within(0, 63).at_most(64),
    strings("gatewayRefs", "ProxyGateways whose traffic to other sites is meant.")
        .as(Format::kNamespacedName)
        .at_most(256),
};
constexpr Object kMatch{kMatchFields};

constexpr Field kPathFields[] = {
    string("strategy", "How one of the links that do is chosen.").one_of(kStrategies).defaults_to("Preferred"),
    strings("linkRefs", "Links that may be used, the preferred first; all of the site without it.")
        .as(Format::kNamespacedName)
        .at_most(64),
    string("fallback", "What happens when no link does.").one_of(kFallbacks).defaults_to("BestEffort"),
};
constexpr Object kPath{kPathFields};

constexpr Field kFailoverFields[] = {
    string("after", "How long a link must be at fault before traffic leaves it.")
        .as(Format::kDuration)
        .defaults_to("3s"),
    string("backAfter", "How long it must be well before traffic returns.").as(Format::kDuration).defaults_to("60s"),
};
constexpr Object kFailover{kFailoverFields};

constexpr Field kQosFields[] = {
    integer("dscp", "Code point that its packets are given (RFC 2474); they keep their own without it.").within(0, 63),
    string("class",
           "Class of its packets on links with a bandwidth: Voice is sent first, Bulk last; by DSCP without it.")
        .one_of(kClasses),
};
constexpr Object kQos{kQosFields};

constexpr Field kSpecFields[] = {
    strings("siteRefs", "Names of the Sites that the policy holds at; every one of the namespace without it.")
        .as(Format::kNamespacedName)
        .at_most(1024),
    integer("priority", "Of two policies that match, the higher holds; then the older.")
        .within(0, 1'000'000)
        .defaults_to("0"),
    objects("matches", kMatch, "Any of them selects traffic; none: all traffic.").at_most(256),
    object("path", kPath, "Which link the traffic takes.").needed(),
    object("sla", kQualityBounds, "What a link must hold for this traffic."),
    object("failover", kFailover, "How soon traffic changes its link."),
    object("qos", kQos, "How the traffic is marked, and ordered where links are shaped."),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kPathStatusFields[] = {
    string("site", "Site that the traffic comes from."),
    string("peer", "Site that it goes to."),
    strings("links", "Links that carry it; none: it is dropped."),
    string("since", "When it was moved to these.").as(Format::kTimestamp),
    string("reason", "Why it was."),
};
constexpr Object kPathStatus{kPathStatusFields};

constexpr Field kStatusFields[] = {
    strings("activeLinks", "Links that carry the traffic now."),
    objects("paths", kPathStatus, "What carries the traffic of each site to each other one.").at_most(256),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr std::string_view kAliases[] = {"wanpolicy", "wp"};
constexpr Column kColumns[] = {
    {"STRATEGY", ".spec.path.strategy"},
    {"PRIORITY", ".spec.priority", ColumnType::kInteger},
    {"ACTIVE", ".status.activeLinks", ColumnType::kString, true},
    kReadyColumn,
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: WANPolicy
metadata:
  name: voice
  namespace: edge-system
spec:
  siteRefs: [hamburg]
  priority: 100
  matches:
    - protocols: [UDP]
      dscp: [46]
  path:
    strategy: LowestLatency
    linkRefs: [hamburg-fibre]
  sla:
    maxLatency: 60ms
    maxJitter: 10ms
    maxLoss: 0.2%
  qos:
    dscp: 46
    class: Voice
)";

}  // namespace

const Object kWanPolicy{kFields};
const Manifest kWanPolicyManifest{
    .text =
        "Which link of a site a class of traffic takes: what the link must hold, how one of several is chosen, and how "
        "soon traffic moves when a link fails.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kStatus,
    .example = kExample};

}  // namespace edge::schemas
