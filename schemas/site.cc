#include "schemas/parts.h"

namespace edge::schemas {
namespace {

constexpr std::string_view kRoles[] = {"hub", "spoke"};

constexpr Field kLocationFields[] = {
    string("region", "Region, as clusters name it."),
    string("address", "Where it is, for people."),
};
constexpr Object kLocation{kLocationFields};

constexpr Field kOverlayFields[] = {
    string("address", "Address of the site's tunnel end within the overlay.").as(Format::kCidr),
    integer("port", "UDP port that tunnels come in on.").within(1, 65535).defaults_to("51820"),
    string("publicKey", "WireGuard key that others know the site by, in base64.").as(Format::kWireGuardKey),
    object("keySecretRef", kSecretRef, "Secret with the key private-key, the other half of publicKey."),
    integer("mtu", "Largest packet in a tunnel.").within(576, 9216).defaults_to("1420"),
};
constexpr Object kOverlay{kOverlayFields};

constexpr Field kSpecFields[] = {
    string("role", "Whether other sites are reached through this one.").one_of(kRoles).defaults_to("spoke"),
    object("location", kLocation, "Where the site is."),
    strings("prefixes", "Networks at the site.").as(Format::kCidr).at_most(4096),
    string_map("nodeSelector", "Labels of the nodes that hold the site's tunnels."),
    string("remoteClusterRef", "Name of the EdgeRemoteCluster that runs the site; this cluster without it.")
        .as(Format::kNamespacedName),
    object("overlay", kOverlay, "The site's end of its tunnels."),
};
constexpr Object kSpec{kSpecFields};

constexpr Field kStatusFields[] = {
    string("node", "Node that holds the site's tunnels."),
    object("links", kReadyCount, "Links of the site; healthy ones are ready."),
    strings("peers", "Sites that a tunnel is up to."),
    kConditionsField,
    kObservedGenerationField,
};
constexpr Object kStatus{kStatusFields};

constexpr Field kFields[] = {
    object("spec", kSpec, "Desired state.").needed(),
    anything("status", "Observed state."),
};

constexpr std::string_view kAliases[] = {"site", "st"};
constexpr Column kColumns[] = {
    {"ROLE", ".spec.role"},
    {"REGION", ".spec.location.region"},
    {"LINKS", ".status.links.summary"},
    kReadyColumn,
    kAgeColumn,
};

constexpr std::string_view kExample = "apiVersion: " EDGE_API_GROUP R"(/v1alpha1
kind: Site
metadata:
  name: hamburg
  namespace: edge-system
spec:
  role: hub
  location:
    region: eu-north
    address: Speicherstadt, Hamburg
  prefixes: [10.20.0.0/16]
  overlay:
    address: 100.64.0.2/24
)";

}  // namespace

const Object kSite{kFields};
const Manifest kSiteManifest{
    .text =
        "A place with networks of its own that the SD-WAN connects: its prefixes, and its end of the tunnels to the "
        "other sites.",
    .aliases = kAliases,
    .columns = kColumns,
    .status = &kStatus,
    .example = kExample};

}  // namespace edge::schemas
