#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kRoles[] = {"primary", "backup"};
constexpr std::string_view kProtocols[] = {"UDP", "ICMP", "TCP"};

constexpr Field kBandwidthFields[] = {
    integer("downMbps", "Megabits a second towards the site.").within(1, 10'000'000),
    integer("upMbps", "Megabits a second from the site.").within(1, 10'000'000),
};
constexpr Object kBandwidth{kBandwidthFields};

constexpr Field kProbeFields[] = {
    string("protocol", "What is sent; UDP goes through the tunnel to every peer.")
        .one_of(kProtocols)
        .defaults_to("UDP"),
    strings("targets", "Addresses that ICMP and TCP probes go to.").as(Format::kIp).at_most(16),
    integer("port", "Port of TCP probes.").within(1, 65535).defaults_to("443"),
    string("interval", "Time between probes.").as(Format::kDuration).defaults_to("100ms"),
    string("timeout", "Time after which a probe counts as lost.").as(Format::kDuration).defaults_to("500ms"),
    integer("window", "Probes that latency, jitter and loss are counted over.").within(2, 10'000).defaults_to("1000"),
};
constexpr Object kProbe{kProbeFields};

constexpr Field kSpecFields[] = {
    string("siteRef", "Name of the Site that the link belongs to.").as(Format::kNamespacedName).needed(),
    string("role", "Whether the link is used while a primary one is healthy.").one_of(kRoles).defaults_to("primary"),
    string("provider", "Who provides it."),
    string("interface", "Network interface of the link."),
    string("address", "Public address of the link; found out without it.").as(Format::kIp),
    string("gateway", "Next hop; the interface's default route without it.").as(Format::kIp),
    object("bandwidth", kBandwidth, "What was bought; shares of traffic follow it."),
    integer("cost", "Of two links that do, the cheaper is taken.").within(0, 1'000'000).defaults_to("100"),
    boolean("metered", "Whether only what no other link takes goes here.").defaults_to("false"),
    object("probe", kProbe, "How the link is measured."),
    object("thresholds", kQualityBounds, "Beyond any of these the link is not healthy."),
    boolean("enabled", "Whether the link is used.").defaults_to("true"),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kDownFields[] = {
    string("site", "Site at its other end."),
    string("link", "Link at its other end."),
    string("reason", "`NoHandshake`, `KeyNotRenewed`, `NoAnswers` or `Failed`."),
    string("message", "What is wrong."),
    string("since", "Since when it carries nothing.").as(Format::kTimestamp),
};
constexpr Object kDown{kDownFields};

constexpr Field kTunnelsFields[] = {
    integer("up", "Tunnels that carry traffic."),
    integer("total", "Tunnels of which that is known."),
    objects("down", kDown, "Those that carry none.").at_most(64),
};
constexpr Object kTunnels{kTunnelsFields};

constexpr Field kStatusFields[] = {
    string("latency", "Round trip, the median of the window.").as(Format::kDuration),
    string("jitter", "Variation of the round trip.").as(Format::kDuration),
    string("loss", "Share of probes that were lost.").as(Format::kPercent),
    string("address", "Public address that was found.").as(Format::kIp),
    string("lastProbe", "When it was last measured.").as(Format::kTimestamp),
    object("tunnels", kTunnels, "Tunnels that leave by the link."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr std::string_view kAliases[] = {"links", "link", "wl"};
constexpr Column kColumns[] = {
    {"SITE", ".spec.siteRef"},
    {"ROLE", ".spec.role"},
    {"PROVIDER", ".spec.provider"},
    {"LATENCY", ".status.latency"},
    {"LOSS", ".status.loss"},
    {"HEALTHY", R"(.status.conditions[?(@.type=="Healthy")].status)"},
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: WANLink
metadata:
  name: hamburg-fibre
  namespace: edge-system
spec:
  siteRef: hamburg
  role: primary
  provider: Nordnetz
  interface: wan0
  bandwidth:
    downMbps: 1000
    upMbps: 500
  thresholds:
    maxLatency: 80ms
    maxLoss: 0.5%
)";

}  // namespace

const Object kWanLink{kFields};
const Manifest kWanLinkManifest{
    .text = "One uplink of a site. It is measured all the time; the measurements decide which traffic it carries.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kStatus,
    .example = kExample};

}  // namespace edge::schemas
